"""The first fault of a value that is not of its shape, in words; for what is refused at its first one, as files are."""

from __future__ import annotations

from pydantic import ValidationError

FIELD_CHARACTERS_MAX = 80
MESSAGE_CHARACTERS_MAX = 200
"""What is told of a field's path and of what is wrong there: both may repeat a stranger's text."""


def describe_first_fault(error: ValidationError) -> str:
    """Return the first wrong field as a dotted path, and what is wrong with it. The value that it has is not told."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))[:FIELD_CHARACTERS_MAX]}: {first['msg'][:MESSAGE_CHARACTERS_MAX]}"
