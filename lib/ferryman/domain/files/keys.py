"""Keys of files: cleaned (prevents path traversal), and behind the prefix of their workspace, which none of them leaves."""

from __future__ import annotations

import re
import unicodedata

from ferryman.domain.ids import is_id
from ferryman.domain.problem import InvalidInputError, build_input_error

KEY_MAX_BYTES = 512
"""Of a file's key in UTF-8, without the workspace's prefix."""

TEXT_MAX = 4_096
"""Characters of what is cleaned: far more than any key has, and so little that cleaning takes no time."""

_SEPARATORS = re.compile(r"[/\\]+")
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Categories of characters that are not seen: controls, formats (bidirectional and zero-width ones), line separators; and
halves of surrogate pairs, which UTF-8 does not have."""

_LAST_OF_PLANES = "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
_NO_CHARACTERS = re.compile(f"[\ufdd0-\ufdef{_LAST_OF_PLANES}]")
"""What Unicode will never define."""


def clean_key(text: str) -> str:
    """Return the key that `text` means: in NFC, with `/` between its parts, and none of them empty, `.` or `..`.

    A `\\` counts as `/`; a part of dots alone goes, as do empty ones, and what is not seen goes everywhere. So an absolute path
    and one with `..` mean a file of the workspace, and none of another. Cleaning a key again changes nothing. Raise
    `InvalidInputError` where nothing is left, or more than `KEY_MAX_BYTES`.
    """
    if len(text) > TEXT_MAX:
        raise _too_long()
    # NFC can bring together what a character that goes had kept apart
    visible = unicodedata.normalize("NFC", "".join(filter(_is_seen, _NO_CHARACTERS.sub("", text))))
    parts = (part.strip() for part in _SEPARATORS.split(visible))
    key = "/".join(part for part in parts if part.strip("."))
    if not key:
        raise build_input_error("key", "must name a file, as in notes/trip.md: nothing is left of it without . and ..")
    if len(key.encode()) > KEY_MAX_BYTES:
        raise _too_long()
    return key


def build_object_key(workspace: str, key: str) -> str:
    """Return the key of the object that holds a file of a workspace. `key` comes from a caller, `workspace` never does.

    Raise `InvalidInputError` as `clean_key` does, ValueError for what is no id of a workspace.
    """
    return build_prefix(workspace) + clean_key(key)


def build_prefix(workspace: str) -> str:
    """Return how the keys of a workspace's files begin; no prefix of one is the beginning of another's."""
    if not is_id(workspace):
        raise ValueError("a workspace has an id")
    return f"workspaces/{workspace}/"


def strip_prefix(workspace: str, object_key: str) -> str:
    """Return the key of a file as its workspace knows it; raise ValueError for an object of another."""
    prefix = build_prefix(workspace)
    if not object_key.startswith(prefix):
        raise ValueError("the object is none of the workspace's")
    return object_key.removeprefix(prefix)


def clean_prefix(text: str) -> str:
    """Return the beginning of keys that `text` means, empty for all: as `clean_key`, but that its last part may be cut off.

    A `/` at its end stays: `notes/` lists a folder, `notes` also `notes.md`. Raise `InvalidInputError` for more than
    `KEY_MAX_BYTES`.
    """
    try:
        key = clean_key(text)
    except InvalidInputError:
        if len(text) > TEXT_MAX or text.strip("./\\ "):
            raise
        return ""
    return key + "/" if text.endswith(("/", "\\")) and len(key.encode()) < KEY_MAX_BYTES else key


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN


def _too_long() -> InvalidInputError:
    return build_input_error("key", f"must be at most {KEY_MAX_BYTES} bytes")
