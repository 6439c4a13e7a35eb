"""Values: what a document says, taken for what it should be or for nothing, and never longer than it may be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

Scalar = str | int | float | bool | None

SCALAR_CHARACTERS_MAX = 200
_WHOLE_MAX = 2**63


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` where it is an object, else one without members."""
    return value if isinstance(value, dict) else {}


def members(value: Any, most: int) -> Iterator[tuple[str, Any]]:
    """The first `most` members of an object; YAML's keys that are no text are passed over."""
    return ((key, each) for key, each in islice(mapping(value).items(), most) if isinstance(key, str))


def items(value: Any, most: int) -> list[Any]:
    """The first `most` items of a list."""
    return value[:most] if isinstance(value, list) else []


def texts(value: Any, most: int) -> list[str]:
    """The texts among the first `most` items of a list."""
    return [each for each in items(value, most) if isinstance(each, str)]


def text(value: Any, characters: int) -> str:
    """`value` on one line of visible characters, cut to `characters` with an ellipsis; "" where it is no text.

    What a document says about itself is read by the model, so characters that nobody sees do not get there.
    """
    if not isinstance(value, str):
        return ""
    # Twice as many, since white space falls away; never the whole, which may be a megabyte.
    start = value[: 2 * characters + 1]
    shown = start if start.isprintable() else "".join(each if each.isprintable() else " " * each.isspace() for each in start)
    line = " ".join(shown.split())
    return line if len(line) <= characters and len(start) == len(value) else line[: characters - 1].rstrip() + "…"


def plain(value: Any, characters: int) -> bool:
    """Whether `value` is a text of visible characters, not empty and not too long: what a name on the wire must be."""
    return isinstance(value, str) and 0 < len(value) <= characters and value.isprintable()


def scalar(value: Any) -> bool:
    """Whether `value` can be shown to the model and written as JSON: a short text or a number that JSON knows."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return len(value) <= SCALAR_CHARACTERS_MAX and not any("\ud800" <= each <= "\udfff" for each in value)
    return number(value)


def number(value: Any) -> bool:
    """Whether `value` is a number of at most 64 bits; YAML writes integers of any length, which nothing prints again."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < _WHOLE_MAX
    return isinstance(value, float) and math.isfinite(value)
