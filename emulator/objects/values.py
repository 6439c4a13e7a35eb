"""Values: buckets, objects, and the parts of the store that hold an object's content."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from emulator.storage import read_moment

TEXTS = ("contentEncoding", "contentDisposition", "contentLanguage", "cacheControl")
"""What an object says of itself beside its type, as the JSON API names it; each is a header of its downloads too."""

ACCEPTED_CLASSES = ("STANDARD",)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageBucket:
    """A bucket: its name is its own in all projects."""

    name: str
    project: str
    location: str
    created: int

    @property
    def created_at(self) -> datetime:
        """The time in UTC."""
        return read_moment(self.created)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """So many bytes of one content in the store, whose name is a number."""

    content: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """Of a content: `crc32c` as a number, `md5` in hexadecimal; None for one that came in parts, as in production."""

    crc32c: int
    md5: str | None

    @property
    def crc32c_base64(self) -> str:
        return base64.b64encode(self.crc32c.to_bytes(4, "big")).decode()

    @property
    def md5_base64(self) -> str | None:
        return None if self.md5 is None else base64.b64encode(bytes.fromhex(self.md5)).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectAbout:
    """What a writer says of an object beside its name: `texts` by their names in `TEXTS`."""

    content_type: str
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """An object. Times are microseconds since 1970; `etag` is S3's, without quotes."""

    bucket: str
    name: str
    generation: int
    metageneration: int
    about: ObjectAbout
    segments: tuple[Segment, ...]
    digests: Digests
    etag: str
    created: int
    updated: int

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(segment.size for segment in self.segments)

    @property
    def created_at(self) -> datetime:
        """The time in UTC."""
        return read_moment(self.created)

    @property
    def updated_at(self) -> datetime:
        """The time in UTC of the last change, of the metadata too."""
        return read_moment(self.updated)

    @property
    def json_etag(self) -> str:
        """The entity tag of the JSON API, another after each change."""
        return base64.b64encode(f"{self.generation}/{self.metageneration}".encode()).decode()


def format_time(moment: datetime) -> str:
    """Return a time in UTC, to the millisecond."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
