"""Exchange: one request to the store, with who sends it and where to, and the answers that have a form of their own."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from emulator.objects.callers import StorageCaller
from emulator.objects.errors import StorageError, invalid, missing_bucket, wrong_digest
from emulator.objects.store import ObjectStore
from emulator.objects.values import StorageBucket, StoredObject

BODY = 1024 * 1024
"""Bytes of a request that is read whole: JSON, XML."""


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """One request. `path` are the parts of its path, decoded; `payload` is the digest of its body, where it was signed."""

    request: Request
    caller: StorageCaller
    store: ObjectStore
    path: tuple[str, ...]
    payload: str | None = None

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters, of which the last of a name counts."""
        return self.request.query_params

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by their names in lower case."""
        return self.request.headers

    @property
    def root(self) -> str:
        """The address of this port."""
        return f"http://{self.request.headers['host']}"

    def open_bucket(self, permission: str, name: str) -> StorageBucket:
        """Return a bucket in which the caller may do this; raise StorageError."""
        self.caller.check(permission, name)
        bucket = self.store.bucket(name)
        if bucket is None:
            raise missing_bucket()
        return bucket

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the body piece by piece; raise StorageError at its end where it is not what was signed or is too short."""
        digest, size = hashlib.sha256(), 0
        async for data in self.request.stream():
            size += len(data)
            if self.payload is not None:
                digest.update(data)
            if data:
                yield data
        if self.payload is not None and not hmac.compare_digest(self.payload.encode(), digest.hexdigest().encode()):
            message = "The provided 'x-amz-content-sha256' header does not match what was computed."
            raise StorageError(400, "invalid", "XAmzContentSHA256Mismatch", message)

    async def read(self) -> bytes:
        """Return the whole body, which is small; raise StorageError."""
        body = bytearray()
        async for data in self.stream():
            body += data
            if len(body) > BODY:
                raise StorageError(413, "uploadTooLarge", "EntityTooLarge", f"The body is larger than {BODY} bytes.")
        return bytes(body)

    async def read_json(self) -> dict[str, Any]:
        """Return the body as a JSON object, empty for none; raise StorageError."""
        return parse_object(await self.read())


def parse_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object, empty for an empty body; raise StorageError."""
    try:
        value = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise StorageError(400, "parseError", "MalformedJSON", "Parse Error") from error
    if not isinstance(value, dict):
        raise invalid("The body must be a JSON object.")
    return value


def split_path(raw: bytes) -> tuple[str, ...]:
    """Return the parts of a path, each decoded by itself: a slash that is encoded belongs to its part. Raise StorageError."""
    try:
        return tuple(unquote_to_bytes(part).decode() for part in raw.removeprefix(b"/").split(b"/"))
    except UnicodeDecodeError as error:
        raise invalid("The path is not in UTF-8.") from error


class Download(StreamingResponse):
    """The bytes from `start` up to `end` of an object, read as they are sent. To be sent at once: the object may go before."""

    def __init__(self, store: ObjectStore, stored: StoredObject, start: int, end: int, **options: Any) -> None:
        super().__init__(store.contents.read(stored.segments, start, end), **options)
        self.headers["content-length"] = str(end - start)
        self._keeping = store.contents.keep(stored.segments)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._keeping:
            await super().__call__(scope, receive, send)


def answer_json_error(error: StorageError) -> Response:
    """Return an error as the JSON API tells it."""
    if error.status == 304:
        return Response(status_code=304)
    details = [{"message": str(error), "domain": "global", "reason": error.reason}]
    body = {"error": {"code": error.status, "message": str(error), "errors": details}}
    return JSONResponse(body, error.status, error.headers)


def locate_object(root: str, path: str, stored: StoredObject, **query: str) -> str:
    """Return the address of an object in the JSON API."""
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{root}{path}/b/{stored.bucket}/o/{quote(stored.name, safe='')}" + (f"?{text}" if text else "")


def check_md5(stated: str | None, md5: str | None) -> None:
    """Raise StorageError unless the MD5 that was stated, in base64, is that of a content."""
    if stated is not None and md5 is not None:
        try:
            digest = base64.b64decode(stated, validate=True).hex()
        except binascii.Error as error:
            raise StorageError(400, "invalid", "InvalidDigest", "The MD5 must be in base64.") from error
        if digest != md5:
            raise wrong_digest("MD5")
