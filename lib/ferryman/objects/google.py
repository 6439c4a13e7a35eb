"""Objects in Google Cloud Storage, by its JSON API (https://cloud.google.com/storage/docs/json_api)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from ferryman.domain.files.direct_links import SENT_TYPE, DirectLink, check_lifetime
from ferryman.domain.files.object import (
    ABSENT,
    PAGE_MAX,
    PUT_BYTES_MAX,
    Object,
    ObjectChangedError,
    ObjectEntry,
    ObjectPage,
    ObjectSlice,
    check_key,
    check_page,
    check_put,
    check_slice,
)
from ferryman.objects.account_signer import AccountSigner
from ferryman.objects.presigning import add_google_signature, prepare_google
from ferryman.objects.sending import CONFLICT_STATUSES, BucketAnswer, BucketClient, compute_digests
from ferryman.objects.signing import encode_path
from ferryman.objects.slices import SLICE_STATUSES, build_end, build_range, raise_conflict, read_slice
from ferryman.ports.clock import Clock
from ferryman.ports.errors import UnavailableError

GOOGLE_STORAGE = "https://storage.googleapis.com"
ENTRY_FIELDS = "name,size,generation,updated"
OBJECT_FIELDS = f"{ENTRY_FIELDS},contentType,metadata"
_MISSING, _PRECONDITION = httpx.codes.NOT_FOUND, httpx.codes.PRECONDITION_FAILED


class GoogleObjects:
    """`ports.Objects`: a bucket of Google Cloud Storage, whose versions are generations. `token` returns an access token."""

    def __init__(
        self,
        client: BucketClient,
        bucket: str,
        *,
        token: Callable[[], Awaitable[str]],
        signer: AccountSigner,
        clock: Clock,
        root: str = GOOGLE_STORAGE,
    ) -> None:
        self._client = client
        self._bucket = bucket
        self._token = token
        self._signer = signer
        self._clock = clock
        self._objects = f"/storage/v1/b/{quote(bucket, safe='')}/o"
        self._root = root

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
        about = {
            "name": key,
            "contentType": content_type,
            "metadata": dict(metadata or {}),
            "md5Hash": (await compute_digests(content)).md5,
        }
        boundary = secrets.token_hex(32)  # which nobody who wrote the content could know
        head = (
            f"--{boundary}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{json.dumps(about)}\r\n--{boundary}\r\n\r\n"
        )
        answer = await self._send(
            "POST",
            f"/upload{self._objects}",
            {"uploadType": "multipart", "fields": "generation", **_build_condition(expected)},
            expected=(httpx.codes.OK, _PRECONDITION),
            headers={"Content-Type": f"multipart/related; boundary={boundary}"},
            content=(head.encode(), content, f"\r\n--{boundary}--".encode()),
        )
        if answer.status == _PRECONDITION:
            raise ObjectChangedError(key)
        generation = _parse(answer, lost=True).get("generation")
        if not isinstance(generation, str):
            raise _unreadable(lost=True)
        return generation

    async def get(self, key: str, *, start: int = 0, size: int = PUT_BYTES_MAX, version: str | None = None) -> ObjectSlice:
        check_key(key)
        check_slice(start, size)
        answer = await self._send(
            "GET",
            self._locate(key),
            {"alt": "media", **_build_condition(version)},
            expected=SLICE_STATUSES,
            headers={"Range": build_range(start, size)},
            most=size,
        )
        if answer.status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return build_end(await self._head(key, version), start, key)
        raise_conflict(answer, key)
        if "x-goog-generation" not in answer.headers:
            raise _unreadable()
        return read_slice(answer, start, answer.headers["x-goog-generation"])

    async def head(self, key: str) -> Object | None:
        check_key(key)
        return await self._head(key, None)

    async def list(self, prefix: str, *, cursor: str | None = None, most: int = PAGE_MAX) -> ObjectPage:
        check_page(most)
        query = {"prefix": prefix, "maxResults": str(most), "fields": f"items({ENTRY_FIELDS}),nextPageToken"}
        if cursor is not None:
            query["pageToken"] = cursor
        expected = (httpx.codes.OK, *(() if cursor is None else (httpx.codes.BAD_REQUEST,)))
        answer = await self._send("GET", self._objects, query, expected=expected)
        if answer.status == httpx.codes.BAD_REQUEST:
            raise ValueError("the cursor is none of this list")
        page = _parse(answer)
        try:
            entries = tuple(ObjectEntry(**_read_entry(item)) for item in page.get("items", ()))
        except (KeyError, ValueError, TypeError):
            raise _unreadable() from None
        return ObjectPage(entries=entries, cursor=page.get("nextPageToken"))

    async def delete(self, key: str, *, version: str | None = None) -> None:
        check_key(key)
        answer = await self._send(
            "DELETE",
            self._locate(key),
            _build_condition(version),
            expected=(httpx.codes.NO_CONTENT, *CONFLICT_STATUSES),
        )
        if answer.status == _PRECONDITION and await self._head(key, None) is not None:
            raise ObjectChangedError(key)

    async def link(self, stored: Object, *, disposition: str, lifetime: timedelta) -> DirectLink:
        lifetime_s, at = check_lifetime(lifetime), self._clock.now().replace(microsecond=0)
        account = await self._signer.get_email()
        query = {
            "generation": stored.version,
            "response-content-disposition": disposition,
            "response-content-type": SENT_TYPE,
        }
        path = encode_path(self._bucket, stored.key)
        url, text = prepare_google(account, self._root, path, query, at=at, lifetime_s=lifetime_s)
        signed = add_google_signature(url, await self._signer.sign(account, text))
        return DirectLink(url=signed, version=stored.version, expires_at=at + lifetime, is_bound=True)

    async def _head(self, key: str, version: str | None) -> Object | None:
        answer = await self._send(
            "GET",
            self._locate(key),
            {"fields": OBJECT_FIELDS, **_build_condition(version)},
            expected=(httpx.codes.OK, *CONFLICT_STATUSES),
        )
        if answer.status == _MISSING:
            return None
        raise_conflict(answer, key)
        item = _parse(answer)
        try:
            metadata = {str(name): str(value) for name, value in item.get("metadata", {}).items()}
            return Object(**_read_entry(item), content_type=str(item.get("contentType", "")), metadata=metadata)
        except (KeyError, ValueError, TypeError, AttributeError):
            raise _unreadable() from None

    def _locate(self, key: str) -> str:
        return f"{self._objects}/{quote(key, safe='')}"

    async def _send(self, method: str, path: str, query: Mapping[str, str], **more: Any) -> BucketAnswer:
        headers = {"Authorization": f"Bearer {await self._token()}", "Accept-Encoding": "identity", **more.pop("headers", {})}
        return await self._client.send(method, f"{self._root}{path}?{urlencode(query)}", headers=headers, **more)


def _build_condition(version: str | None) -> dict[str, str]:
    return {} if version is None else {"ifGenerationMatch": "0" if version == ABSENT else version}


def _read_entry(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key": str(item["name"]),
        "size_bytes": int(item["size"]),
        "version": str(item["generation"]),
        "updated_at": datetime.fromisoformat(item["updated"]),
    }


def _unreadable(*, lost: bool = False) -> UnavailableError:
    return UnavailableError("the bucket gave an answer that cannot be read", lost=lost)


def _parse(answer: BucketAnswer, *, lost: bool = False) -> dict[str, Any]:
    try:
        parsed = json.loads(answer.content)
    except ValueError:
        raise _unreadable(lost=lost) from None
    if not isinstance(parsed, dict):
        raise _unreadable(lost=lost)
    return parsed
