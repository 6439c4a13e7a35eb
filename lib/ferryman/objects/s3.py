"""Objects in a bucket of a service that speaks S3, addressed by path (https://docs.aws.amazon.com/AmazonS3/latest/API)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote

import httpx

from ferryman.domain.files.access import S3Access
from ferryman.domain.files.direct_links import SENT_TYPE, DirectLink, check_lifetime
from ferryman.domain.files.object import (
    ABSENT,
    PAGE_MAX,
    PUT_BYTES_MAX,
    Object,
    ObjectChangedError,
    ObjectPage,
    ObjectSlice,
    check_key,
    check_page,
    check_put,
    check_slice,
)
from ferryman.objects.listing import read_page
from ferryman.objects.presigning import presign_s3
from ferryman.objects.sending import CONFLICT_STATUSES, BucketAnswer, BucketClient, compute_digests
from ferryman.objects.signing import EMPTY_SHA256, encode_path, encode_query, sign_request
from ferryman.objects.slices import SLICE_STATUSES, build_end, build_range, raise_conflict, read_slice
from ferryman.ports.clock import Clock
from ferryman.ports.errors import RejectedError, UnavailableError

META = "x-amz-meta-"
VERSION_ID, NO_VERSION = "x-amz-version-id", "null"
"""What names a version where a bucket keeps them; its value for those that were written before it did."""

_MISSING, _PRECONDITION = httpx.codes.NOT_FOUND, httpx.codes.PRECONDITION_FAILED


class S3Objects:
    """`ports.Objects`: a bucket of a service that speaks S3, whose versions are entity tags: the digests of contents.

    Some services ignore If-Match or If-None-Match in a write or a deletion. So the version is read before, too. With such a
    service, what somebody else writes between that read and the write is lost; with any other, nothing is.
    """

    def __init__(self, client: BucketClient, access: S3Access, clock: Clock) -> None:
        self._client = client
        self._access = access
        self._clock = clock

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
        if expected is not None:
            await self._check_version(key, expected)
        digests = await compute_digests(content)
        headers = {
            "content-type": content_type,
            "content-md5": digests.md5,
            **{META + name: value for name, value in (metadata or {}).items()},
        }
        if expected is not None:
            headers |= {"if-none-match": "*"} if expected == ABSENT else _build_condition(expected)
        statuses = (httpx.codes.OK, *CONFLICT_STATUSES)
        answer = await self._send("PUT", key, headers=headers, content=(content,), digest=digests.sha256, expected=statuses)
        if answer.status == _MISSING and expected in (None, ABSENT):
            raise RejectedError("there is no bucket of that name")
        if answer.status != httpx.codes.OK:
            raise ObjectChangedError(key)
        return _read_version(answer, lost=True)

    async def get(self, key: str, *, start: int = 0, size: int = PUT_BYTES_MAX, version: str | None = None) -> ObjectSlice:
        check_key(key)
        check_slice(start, size)
        answer = await self._send(
            "GET",
            key,
            headers={"range": build_range(start, size), **_build_condition(version)},
            expected=SLICE_STATUSES,
            most=size,
        )
        if answer.status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return build_end(await self._head(key, version), start, key)
        raise_conflict(answer, key)
        return read_slice(answer, start, _read_version(answer))

    async def head(self, key: str) -> Object | None:
        check_key(key)
        return await self._head(key, None)

    async def list(self, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage:
        check_page(most)
        query = {"list-type": "2", "encoding-type": "url", "prefix": prefix, "max-keys": str(most)}
        if cursor is not None:
            query["continuation-token"] = cursor
        expected = (httpx.codes.OK, *(() if cursor is None else (httpx.codes.BAD_REQUEST,)))
        answer = await self._send("GET", None, query=query, expected=expected)
        if answer.status == httpx.codes.BAD_REQUEST:
            raise ValueError("the cursor is none of this list")
        return read_page(answer.content)

    async def delete(self, key: str, *, version: str | None = None) -> None:
        check_key(key)
        if version is not None and not await self._check_version(key, version, or_absent=True):
            return
        statuses = (httpx.codes.OK, httpx.codes.NO_CONTENT, *CONFLICT_STATUSES)
        answer = await self._send("DELETE", key, headers=_build_condition(version), expected=statuses)
        if answer.status == _PRECONDITION:
            raise ObjectChangedError(key)

    async def link(self, stored: Object, *, disposition: str, lifetime: timedelta) -> DirectLink:
        lifetime_s, at = check_lifetime(lifetime), self._clock.now().replace(microsecond=0)
        # an entity tag can be a condition in a header alone, and who follows a link sends none
        version = {"versionId": stored.version_id} if stored.version_id else {}
        query = {**version, "response-content-disposition": disposition, "response-content-type": SENT_TYPE}
        path = encode_path(self._access.bucket, stored.key)
        url = presign_s3(self._access, path, query, at=at, lifetime_s=lifetime_s)
        return DirectLink(url=url, version=stored.version, expires_at=at + lifetime, is_bound=bool(version))

    async def _head(self, key: str, version: str | None) -> Object | None:
        expected = (httpx.codes.OK, *CONFLICT_STATUSES)
        answer = await self._send("HEAD", key, headers=_build_condition(version), expected=expected)
        if answer.status == _MISSING:
            return None
        raise_conflict(answer, key)
        headers = answer.headers
        try:
            return Object(
                key=key,
                size_bytes=int(headers["content-length"]),
                version=_read_version(answer),
                updated_at=_read_date(headers["last-modified"]),
                content_type=headers.get("content-type", ""),
                metadata={name.removeprefix(META): value for name, value in headers.items() if name.startswith(META)},
                version_id=_read_version_id(headers),
            )
        except (KeyError, ValueError):
            raise UnavailableError("the bucket gave an answer that cannot be read") from None

    async def _check_version(self, key: str, expected: str, *, or_absent: bool = False) -> bool:
        """Return whether the object is there; raise `ObjectChangedError` unless it is of this version."""
        stored = await self._head(key, None)
        current = ABSENT if stored is None else stored.version
        if current != expected and not (or_absent and stored is None):
            raise ObjectChangedError(key)
        return stored is not None

    async def _send(
        self,
        method: str,
        key: str | None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: Sequence[bytes] = (),
        digest: str = EMPTY_SHA256,
        **more: Any,
    ) -> BucketAnswer:
        path = encode_path(self._access.bucket, *(() if key is None else (key,)))
        signed = sign_request(self._access, method, path, query or {}, headers or {}, digest, at=self._clock.now())
        url = self._access.endpoint + path + (f"?{encode_query(query)}" if query else "")
        sent = {**signed, "accept-encoding": "identity"}
        return await self._client.send(method, url, headers=sent, content=content, **more)


def _build_condition(version: str | None) -> dict[str, str]:
    return {} if version is None else {"if-match": f'"{version}"'}


def _read_version(answer: BucketAnswer, *, lost: bool = False) -> str:
    version = answer.headers.get("etag", "").removeprefix("W/").strip('"')
    if not version:
        raise UnavailableError("the bucket gave an object without an entity tag", lost=lost)
    return str(version)


def _read_version_id(headers: Mapping[str, str]) -> str:
    named = headers.get(VERSION_ID, NO_VERSION)
    return "" if named == NO_VERSION else named


def _read_date(text: str) -> datetime:
    return parsedate_to_datetime(unquote(text))
