"""Objects of a bucket, in memory."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from ferryman.domain.files.direct_links import DirectLink, check_lifetime
from ferryman.domain.files.object import (
    ABSENT,
    PAGE_MAX,
    PUT_BYTES_MAX,
    Object,
    ObjectChangedError,
    ObjectEntry,
    ObjectMissingError,
    ObjectPage,
    ObjectSlice,
    check_key,
    check_page,
    check_put,
    check_slice,
)
from ferryman.ports.clock import Clock

LINKS = "https://memory.invalid/"
LINKS_KEY = b"the key of links in memory"


class MemoryObjects:
    """`ports.Objects`: what is stored stays as long as this."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._objects: dict[str, tuple[Object, bytes]] = {}
        self._versions = count(1)

    async def put(
        self,
        key: str,
        content: bytes,
        *,
        content_type: str,
        metadata: Mapping[str, str] | None = None,
        expected: str | None = None,
    ) -> str:
        check_put(key, content, content_type, metadata or {})
        self._check_version(key, expected)
        stored = Object(
            key=key,
            size_bytes=len(content),
            version=str(next(self._versions)),
            updated_at=self._clock.now(),
            content_type=content_type,
            metadata=dict(metadata or {}),
        )
        self._objects[key] = stored, content
        return stored.version

    async def get(self, key: str, *, start: int = 0, size: int = PUT_BYTES_MAX, version: str | None = None) -> ObjectSlice:
        check_key(key)
        check_slice(start, size)
        if key not in self._objects:
            raise ObjectMissingError(key)
        self._check_version(key, version)
        stored, content = self._objects[key]
        return ObjectSlice(
            content=content[start : start + size],
            start=start,
            size_bytes=stored.size_bytes,
            content_type=stored.content_type,
            version=stored.version,
        )

    async def head(self, key: str) -> Object | None:
        check_key(key)
        stored = self._objects.get(key)
        return None if stored is None else replace(stored[0], metadata=dict(stored[0].metadata))

    async def list(self, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage:
        check_page(most)
        if cursor is not None and not cursor.startswith(prefix):
            raise ValueError("the cursor is none of this list")
        keys = sorted((key for key in self._objects if key.startswith(prefix)), key=str.encode)
        rest = [key for key in keys if cursor is None or key.encode() > cursor.encode()]
        entries = tuple(_summarize(self._objects[key][0]) for key in rest[:most])
        return ObjectPage(entries=entries, cursor=entries[-1].key if len(rest) > most else None)

    async def delete(self, key: str, *, version: str | None = None) -> None:
        check_key(key)
        if key in self._objects:
            self._check_version(key, version)
            del self._objects[key]

    async def link(self, stored: Object, *, disposition: str, lifetime: timedelta) -> DirectLink:
        lifetime_s, now = check_lifetime(lifetime), self._clock.now().replace(microsecond=0)
        expires_at = now + timedelta(seconds=lifetime_s)
        query = {"version": stored.version, "disposition": disposition, "expires": str(int(expires_at.timestamp()))}
        url = f"{LINKS}{quote(stored.key)}?{urlencode(query)}"
        signed = f"{url}&signature={self._sign(url)}"
        return DirectLink(url=signed, version=stored.version, expires_at=expires_at, is_bound=True)

    def follow(self, url: str) -> bytes:
        """Return what a link opens, as the service of a bucket would answer it. Raise PermissionError, `ObjectMissingError`."""
        signed, _, signature = url.rpartition("&signature=")
        parts = urlsplit(signed)
        expires = parse_qs(parts.query).get("expires", ["0"])[0]
        if not hmac.compare_digest(signature, self._sign(signed)) or self._clock.now() > datetime.fromtimestamp(
            int(expires), UTC
        ):
            raise PermissionError("the link was changed, or its time is over")
        key = unquote(parts.path.removeprefix("/"))
        stored, content = self._objects.get(key, (None, b""))
        if stored is None or [stored.version] != parse_qs(parts.query)["version"]:
            raise ObjectMissingError(key)
        return content

    def _sign(self, url: str) -> str:
        return hmac.digest(LINKS_KEY, url.encode(), "sha256").hex()

    def _check_version(self, key: str, expected: str | None) -> None:
        current = self._objects[key][0].version if key in self._objects else ABSENT
        if expected not in (None, current):
            raise ObjectChangedError(key)


def _summarize(stored: Object) -> ObjectEntry:
    return ObjectEntry(key=stored.key, size_bytes=stored.size_bytes, version=stored.version, updated_at=stored.updated_at)
