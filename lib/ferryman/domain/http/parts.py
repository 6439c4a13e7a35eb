"""Parts: what the head of a part of `multipart/form-data` may have (RFC 7578), so that every receiver reads the same."""

from __future__ import annotations

import re

NAME_CHARACTERS_MAX = 128
FILENAME_BYTES_MAX = 255

# quotes and backslashes end a quoted text or escape its end, some split it at a semicolon, and some decode a percent sign
_FOR_NAMES = frozenset('"\\;%')
_FOR_FILENAMES = _FOR_NAMES | frozenset("/:*?<>|")
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}(?:; ?charset=[a-z0-9-]{1,32})?", re.ASCII | re.IGNORECASE)

NAME_RULE = f"a name of 1 to {NAME_CHARACTERS_MAX} printable characters without quotes, backslashes, ';' and '%'"
FILENAME_RULE = (
    f"a file name of 1 to {FILENAME_BYTES_MAX} bytes of printable characters without quotes, slashes and any of ; % : * ? < > |"
)
MEDIA_RULE = "a media type, as in text/csv, with at most a charset"


def is_part_name(name: str) -> bool:
    """Say whether a part may be called `name`."""
    return 0 < len(name) <= NAME_CHARACTERS_MAX and name.isprintable() and not _FOR_NAMES & set(name)


def is_filename(name: str) -> bool:
    """Say whether a part may be a file called `name`."""
    is_plain = name.isprintable() and not _FOR_FILENAMES & set(name) and name == name.strip() and name.strip(".") != ""
    return is_plain and len(name.encode()) <= FILENAME_BYTES_MAX


def is_part_media(media: str) -> bool:
    """Say whether a part may be of the media type `media`; one with a boundary of its own would be parts again."""
    return _MEDIA.fullmatch(media) is not None and not media.lower().startswith(("multipart/", "message/"))
