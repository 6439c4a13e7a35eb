"""Positions: where a list or a search goes on that did not end, as a text that the model gives back."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass

from ferryman.tools.files.file_call import refuse

CURSOR_CHARACTERS_MAX = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPosition:
    """After `skip` entries of the bucket's `page`; in a file at byte `offset`, which is in line `line`."""

    page: str | None = None
    skip: int = 0
    offset: int = 0
    line: int = 1

    def format(self) -> str:
        """Return the cursor."""
        text = json.dumps([self.page, self.skip, self.offset, self.line])
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_position(cursor: str) -> SearchPosition:
    """Return the position, the beginning for an empty one; raise `LocalFunctionError` for what no tool has answered."""
    if not cursor:
        return SearchPosition()
    wrong = refuse("cursor", "must be one that this tool answered to the same arguments")
    if len(cursor) > CURSOR_CHARACTERS_MAX or not cursor.isascii():
        raise wrong
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise wrong from None
    if not isinstance(parts, list) or len(parts) != 4 or type(parts[0]) not in (str, type(None)):
        raise wrong
    page, *numbers = parts
    if any(type(number) is not int or not 0 <= number < 1 << 40 for number in numbers):
        raise wrong
    skip, offset, line = numbers
    return SearchPosition(page=page, skip=skip, offset=offset, line=line)
