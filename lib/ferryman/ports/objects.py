"""The port of objects: one bucket of Google Cloud Storage, or of any service that speaks S3."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from ferryman.domain.files.direct_links import DirectLink
from ferryman.domain.files.object import PAGE_MAX, PUT_BYTES_MAX, Object, ObjectPage, ObjectSlice


class Objects(Protocol):
    """The objects of one bucket. Keys are whole, prefix included, and clean already (`domain.files.keys`).

    Every method raises `UnavailableError` where the service does not answer; with `lost` where it may have done what it was
    asked: `put` what tells your own writes apart as metadata, and look with `head`.

    `put` stores an object, in the place of the one under its key, and returns its version. With `expected` it raises
    `ObjectChangedError` unless that version is the current one, and with `ABSENT` unless there is none. `get` returns up to
    `size` bytes from byte `start` on. It raises `ObjectMissingError`, and `ObjectChangedError` where `version` is given and not
    the current one. `head` returns None where there is no object. `list` returns up to `most` entries of keys that begin with
    `prefix`, after `cursor`; it raises ValueError for a cursor that is none. `delete` removes the object, if there is one, and
    raises `ObjectChangedError` where `version` is given and there is another.

    `link` returns a URL that downloads an object, as `head` has returned it, for anybody who has the URL: with GET alone, as
    `SENT_TYPE` under the header `disposition`, all of which is signed, for `lifetime` (`check_lifetime`) from now on.

    Sizes, cursors, bounds and metadata outside of what `domain.files.object` allows are a ValueError.
    """

    async def put(
        self,
        key: str,
        content: bytes,
        *,
        content_type: str,
        metadata: Mapping[str, str] = ...,
        expected: str | None = None,
    ) -> str: ...
    async def get(self, key: str, *, start: int = 0, size: int = PUT_BYTES_MAX, version: str | None = None) -> ObjectSlice: ...
    async def head(self, key: str) -> Object | None: ...
    async def list(self, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage: ...
    async def delete(self, key: str, *, version: str | None = None) -> None: ...
    async def link(self, stored: Object, *, disposition: str, lifetime: timedelta) -> DirectLink: ...
