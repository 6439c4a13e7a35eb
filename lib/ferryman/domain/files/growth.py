"""Growth: how many bytes a call of a tool may add to a workspace's files, known before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.files.texts import encode_text

EDIT_BYTES_MAX = 1024 * 1024
"""Of a file that is edited, before and after."""


def measure_growth(changes: bool, arguments: Mapping[str, Any]) -> int | None:
    """Return the bytes to reserve for a call, at least what it may add; None for a tool that changes nothing.

    Of a whole file, its content; of an edit, its new text as often as it may be put in; where the arguments have both, the
    more of them, since a tool ignores arguments that are none of its own. An argument of another type adds nothing, since the
    tool refuses it.
    """
    if not changes:
        return None
    return max(_measure(arguments.get("content")), _measure_edit(arguments))


def _measure_edit(arguments: Mapping[str, Any]) -> int:
    old, new = _measure(arguments.get("old_text")), _measure(arguments.get("new_text"))
    if not arguments.get("replace_all"):
        return max(0, new - old)
    return min(EDIT_BYTES_MAX, max(0, new - old) * (EDIT_BYTES_MAX // max(1, old)))


def _measure(text: Any) -> int:
    return len(encode_text(text) or b"") if isinstance(text, str) else 0
