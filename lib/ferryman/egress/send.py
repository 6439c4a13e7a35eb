"""Sending of one request over HTTPS, by one pinned connection: one bounded response; every failure becomes a refusal."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence

import anyio
import h11
import httpcore
import httpx

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import InboundResponse, PreparedRequest
from ferryman.domain.http.url import URL
from ferryman.egress.pin import Dialer, PeerNotPinnedError, PinnedNetwork

_IDENTITY = ("", "identity")
_GZIP = ("gzip", "x-gzip")
_BROKEN = "the answer's content coding is broken"
STEP_BYTES = 65_536
"""Bytes of gzip output made in one step: at most a fifth of a millisecond."""

WIRE_BYTES_SPARE = 65_536  # bytes by which honest gzip may be longer than what it decodes to


class ResponseBody:
    """Collects at most `limit` decoded bytes. One coding, gzip or none: stacked codings and others can hide a bomb."""

    def __init__(self, coding: str, limit: int) -> None:
        coding = coding.strip().lower()
        if coding not in _IDENTITY + _GZIP:
            raise CallRefusedError(refusal.report_failure("the answer's content coding is not accepted"))
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if coding in _GZIP else None
        self._decoded = bytearray()
        self._limit = limit
        self.received = 0

    def feed(self, chunk: bytes) -> bool:
        """Take in a chunk as received, and tell whether more may follow. Raise `CallRefusedError` if it does not decode."""
        for _ in self.steps(chunk):
            pass
        return self.is_open

    def steps(self, chunk: bytes) -> Iterator[None]:
        """Take in a chunk as `feed` does, yielding between every two pieces: some bytes of gzip may decode to megabytes.

        What follows the end of a gzip stream is not read: zlib would keep all of it.
        """
        self.received += len(chunk)
        if self._inflate is None:
            self._decoded += chunk[: self._room]
            return
        while True:
            try:
                self._decoded += self._inflate.decompress(chunk, min(self._room, STEP_BYTES))
            except zlib.error:
                raise CallRefusedError(refusal.report_failure(_BROKEN)) from None
            chunk = self._inflate.unconsumed_tail
            if not self.is_open or not chunk:
                break
            yield
        if not self.is_cut and self.received > self._limit + WIRE_BYTES_SPARE:
            raise CallRefusedError(refusal.report_failure(_BROKEN))

    def finish(self) -> None:
        """End the body. Raise `CallRefusedError` if the coding announced more."""
        if self._inflate is not None and self.received and not (self.is_cut or self._inflate.eof):
            raise CallRefusedError(refusal.report_failure(_BROKEN))

    @property
    def is_open(self) -> bool:
        """Whether more may follow."""
        return not self.is_cut and (self._inflate is None or not self._inflate.eof)

    @property
    def _room(self) -> int:
        # One byte more than the limit tells a body that is too long from one that fits.
        return self._limit - len(self._decoded) + 1

    @property
    def is_cut(self) -> bool:
        """Whether the body was longer than the limit."""
        return len(self._decoded) > self._limit

    @property
    def content(self) -> bytes:
        """The decoded bytes, at most `limit` of them."""
        return bytes(memoryview(self._decoded)[: self._limit])


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._response.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()


PLACEHOLDER_URL = "https://upstream.invalid/"  # the URL that httpx sees: it may log what it sees


class PinnedTransport(httpx.AsyncBaseTransport):
    """httpx over one pinned connection (SSRF protection): sends one request to `url`, exactly as it was checked, by HTTP/1.1.

    httpx would normalise a path, decode a host and log both, so the request's own URL says nothing. Its extensions are not
    passed on: they could name another server, another target, or a tracer.
    """

    def __init__(self, network: PinnedNetwork, tls: ssl.SSLContext, *, url: URL, timeout_s: float) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            network_backend=network,
            http1=True,
            http2=False,
            retries=0,
            max_connections=1,
            max_keepalive_connections=0,
        )
        self._url = httpcore.URL(scheme=b"https", host=url.host.encode("ascii"), port=None, target=url.target.encode("ascii"))
        self._timeout = dict.fromkeys(("connect", "read", "write", "pool"), timeout_s)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=self._url,
                headers=request.headers.raw,
                content=request.stream,
                extensions={"timeout": self._timeout},
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Stream(response))

    async def aclose(self) -> None:
        await self._pool.aclose()


async def send(
    prepared: PreparedRequest,
    addresses: Sequence[Address],
    *,
    dialer: Dialer,
    tls: ssl.SSLContext,
    body_max: int,
    within_s: float,
) -> InboundResponse:
    """Send `prepared` to one of `addresses`; return the response with at most `body_max` decoded bytes.

    Raise `CallRefusedError`. `within_s` seconds bound each step; the caller bounds them together. No redirect is followed, no
    proxy used, no cookie kept, no connection used twice.
    """
    network = PinnedNetwork(prepared.url.host, addresses, dialer)
    transport = PinnedTransport(network, tls, url=prepared.url, timeout_s=within_s)
    headers = [("host", prepared.url.host), *prepared.headers, ("connection", "close")]
    try:
        async with httpx.AsyncClient(transport=transport, follow_redirects=False, trust_env=False) as client:
            request = httpx.Request(prepared.method.value, PLACEHOLDER_URL, headers=headers, content=prepared.body)
            response = await client.send(request, stream=True)
            try:
                return await _read(response, body_max)
            finally:
                await response.aclose()
    except PeerNotPinnedError:
        raise CallRefusedError(refusal.refuse_address(prepared.url.host)) from None
    except (httpcore.ConnectTimeout, httpcore.ReadTimeout, httpcore.WriteTimeout, httpcore.PoolTimeout):
        raise CallRefusedError(refusal.report_timeout(within_s)) from None
    except httpcore.ConnectError as error:
        raise CallRefusedError(refusal.report_failure(_describe_connect_error(error))) from None
    except (httpcore.NetworkError, anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError, OSError):
        raise CallRefusedError(refusal.report_failure("the connection broke")) from None
    except (httpcore.ProtocolError, h11.ProtocolError, httpx.HTTPError, httpx.InvalidURL, ValueError):
        raise CallRefusedError(refusal.report_failure("the answer was not valid HTTP")) from None


def _describe_connect_error(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return "the TLS connection could not be made"
        error = error.__cause__ or error.__context__
    return "the connection was refused"


async def _read(response: httpx.Response, body_max: int) -> InboundResponse:
    body = ResponseBody(response.headers.get("content-encoding", ""), body_max)
    async for chunk in response.aiter_raw():
        for _ in body.steps(chunk):
            await asyncio.sleep(0)  # let others run
        if not body.is_open:
            break
    body.finish()
    return InboundResponse(
        status=response.status_code,
        headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw),
        body=body.content,
        size_bytes=_read_declared_size(response, body.received) if body.is_cut else body.received,
        cut=body.is_cut,
    )


def _read_declared_size(response: httpx.Response, read: int) -> int:
    """Return the size in bytes that the peer announced, for a response of which reading stopped early (S0-120)."""
    text = response.headers.get("content-length", "")
    return max(read, int(text)) if text.isascii() and text.isdigit() and len(text) < 16 else read
