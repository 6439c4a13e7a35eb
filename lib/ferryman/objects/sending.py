"""Sending: one request to a bucket's service and its answer, of bounded size, with the errors of the port."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from ferryman.ports.errors import RejectedError, UnavailableError, UnreachedError

ANSWER_BYTES_MAX = 8 * 1024 * 1024
"""Of an answer that is no object's content: a page of 1,000 keys of 1,024 bytes, escaped, and what is said of each."""

ERROR_BYTES_MAX = 64 * 1024
"""Of an answer that tells an error."""

LONG_BYTES = 256 * 1024
"""What is digested in a millisecond or less stays on the event loop."""

CONFLICT_STATUSES = frozenset((httpx.codes.NOT_FOUND, httpx.codes.PRECONDITION_FAILED))
"""What services answer to a write whose precondition is not met."""

_NOT_NOW = frozenset((httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT, httpx.codes.TOO_MANY_REQUESTS))
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_SECONDS_MAX = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketAnswer:
    """An answer that is not an error of the port."""

    status: int
    headers: httpx.Headers = field(repr=False)
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDigests:
    """What is sent beside a content, so that the service refuses another: `md5` in base64, `sha256` in hexadecimal."""

    md5: str
    sha256: str


async def compute_digests(content: bytes) -> ContentDigests:
    """Return the digests of a content; of a long one in a thread, while the event loop goes on."""
    return await asyncio.to_thread(_digest, content) if len(content) > LONG_BYTES else _digest(content)


def _digest(content: bytes) -> ContentDigests:
    md5 = hashlib.md5(content, usedforsecurity=False).digest()
    return ContentDigests(md5=base64.b64encode(md5).decode(), sha256=hashlib.sha256(content).hexdigest())


class BucketClient:
    """Sends requests to the service of a bucket. `client` returns the client of the process."""

    def __init__(self, client: Callable[[], httpx.AsyncClient]) -> None:
        self._client = client

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        content: Sequence[bytes] = (),
        expected: Collection[int],
        most: int = ANSWER_BYTES_MAX,
    ) -> BucketAnswer:
        """Return an answer whose status is one of `expected`, with at most `most` bytes where it is a success.

        Raise `UnavailableError` where there is none now, `RejectedError` for any other: nothing of its text is told, since
        services repeat what was signed.
        """
        writes = method not in ("GET", "HEAD")
        async with _translate(writes=writes):
            size = {"content-length": str(sum(map(len, content)))} if content else {}
            body = _iterate(content) if content else None
            request = self._client().build_request(method, url, headers={**headers, **size}, content=body)
            answer = await self._client().send(request, stream=True)
            try:
                read = await _read(answer, most if answer.is_success else ERROR_BYTES_MAX)
            finally:
                await answer.aclose()
        if answer.status_code in expected:
            return BucketAnswer(status=answer.status_code, headers=answer.headers, content=read)
        if answer.status_code in _NOT_NOW or answer.is_server_error:
            after = answer.headers.get("retry-after", "")
            seconds = min(float(after), _SECONDS_MAX) if after.isdecimal() and after.isascii() else None
            lost = writes and answer.is_server_error
            raise UnavailableError(f"the bucket answered {answer.status_code}", after_s=seconds, lost=lost)
        raise RejectedError(f"the bucket refused a request ({answer.status_code}): its name, its region or the right to it")


async def _iterate(parts: Sequence[bytes]) -> AsyncIterator[bytes]:
    """Yield a body part by part: joined, it would be in memory twice."""
    for part in parts:
        yield part


async def _read(answer: httpx.Response, most: int) -> bytes:
    """Return the bytes as they came, not decoded: no object is stored in a content coding. Raise httpx.ReadError for more."""
    body = bytearray()
    async for data in answer.aiter_raw():
        body += data
        if len(body) > most:
            raise httpx.ReadError("the answer is longer than it may be")
    return bytes(body)


@asynccontextmanager
async def _translate(*, writes: bool) -> AsyncIterator[None]:
    try:
        yield
    except _UNSENT as error:
        raise UnreachedError(f"the bucket was not reached ({type(error).__name__})") from None
    except httpx.HTTPError as error:
        raise UnavailableError(f"the bucket did not answer ({type(error).__name__})", lost=writes) from None
