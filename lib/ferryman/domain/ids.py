"""Ids: the form of all that is named by one, asked before any of them becomes part of a document's path."""

from __future__ import annotations

import re

ID_ABOUT = "1 to 64 ASCII letters, digits, _ and -, of which the first is a letter or a digit"
_ID = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)


def is_id(text: str) -> bool:
    """Tell whether `text` can be the id of anything; whether there is something of that id is another question."""
    return _ID.fullmatch(text) is not None
