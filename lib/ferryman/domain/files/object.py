"""Objects: what a bucket stores under a key, as Google Cloud Storage and S3 both know it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

KEY_BYTES_MAX = 1_024
"""Of a whole key in UTF-8, its prefix included: what both services take."""

PUT_BYTES_MAX = 32 * 1024 * 1024
"""Bytes that one `put` stores at most, and one `get` returns."""

PAGE_MAX = 1_000
"""Entries of a page at most, as both services answer."""

METADATA_BYTES_MAX = 2_048
"""Of all names and values together: the bound of S3."""

CONTENT_TYPE_MAX = 255
"""Characters."""

ABSENT = ""
"""The version of a key under which there is no object: what `put` is told to expect where it must replace nothing."""

_METADATA_NAME = re.compile("[a-z][a-z0-9-]{0,63}", re.ASCII)
_VISIBLE = re.compile("[!-~]([ -~]*[!-~])?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class ObjectMissingError(LookupError):
    """There is no object under this key."""


class ObjectChangedError(Exception):
    """The object is not of the version that was expected, or there is one where none was: nothing was read or changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectEntry:
    """What a list tells of an object. `version` is that of its content: another after every `put`, to be compared alone.

    On Google Cloud Storage it is the generation, which never comes back; on S3 the entity tag, which does with the content.
    """

    key: str
    size_bytes: int
    version: str
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Object(ObjectEntry):
    """All that is known of an object beside its content. `content_type` is as it was stored, with its parameters.

    `version_id` is what S3 opens this version by in a bucket that keeps versions (`x-amz-version-id`); empty elsewhere.
    """

    content_type: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    version_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSlice:
    """A part of an object's content: from byte `start` of `size_bytes` on. Empty where the object ends before that."""

    content: bytes = field(repr=False)
    start: int
    size_bytes: int
    content_type: str
    version: str

    @property
    def end(self) -> int:
        """The byte that the next part starts at."""
        return self.start + len(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPage:
    """Entries in the order of their keys' bytes. The next page begins after `cursor`, which only its bucket can read.

    `deleted` are the keys of deleted files of which something is left: of a page of files alone.
    """

    entries: tuple[ObjectEntry, ...]
    cursor: str | None = None
    deleted: tuple[str, ...] = ()


def check_key(key: str) -> None:
    """Raise ValueError for a key that a service would refuse, or that a URL would change on its way there."""
    if not 1 <= len(key.encode()) <= KEY_BYTES_MAX:
        raise ValueError(f"a key has 1 to {KEY_BYTES_MAX:,} bytes in UTF-8")
    if _CONTROL.search(key) or {".", ".."} & set(key.split("/")):
        raise ValueError("a key has no control characters, and neither . nor .. between its slashes")


def check_put(key: str, content: bytes, content_type: str, metadata: Mapping[str, str]) -> None:
    """Raise ValueError for what one of the services would change or refuse.

    A content type is visible ASCII with spaces inside. Names of metadata are lower-case ASCII letters, digits and hyphens;
    values are as the content type.
    """
    check_key(key)
    if len(content) > PUT_BYTES_MAX:
        raise ValueError(f"an object is stored with at most {PUT_BYTES_MAX:,} bytes at once")
    if len(content_type) > CONTENT_TYPE_MAX or _VISIBLE.fullmatch(content_type) is None:
        raise ValueError(f"a content type has 1 to {CONTENT_TYPE_MAX} visible ASCII characters")
    for name, value in metadata.items():
        if _METADATA_NAME.fullmatch(name) is None:
            raise ValueError("a name of metadata must be 1 to 64 of a-z, 0-9 and -, the first of them a letter")
        if _VISIBLE.fullmatch(value) is None:
            raise ValueError(f"the metadata {name} must be visible ASCII, without spaces around it")
    if sum(len(name) + len(value) for name, value in metadata.items()) > METADATA_BYTES_MAX:
        raise ValueError(f"metadata must be at most {METADATA_BYTES_MAX:,} bytes")


def check_slice(start: int, size: int) -> None:
    """Raise ValueError for a part of a content that cannot be asked for: empty, too large, or before its beginning."""
    if start < 0 or not 1 <= size <= PUT_BYTES_MAX:
        raise ValueError(f"a part starts at 0 or later and has 1 to {PUT_BYTES_MAX:,} bytes")


def check_page(most: int) -> None:
    """Raise ValueError for a number of entries that no page has."""
    if not 1 <= most <= PAGE_MAX:
        raise ValueError(f"a page has 1 to {PAGE_MAX:,} entries")
