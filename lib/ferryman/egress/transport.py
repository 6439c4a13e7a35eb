"""httpx over one pinned connection (SSRF protection), HTTP/1.1 only, and never used again."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

import httpcore
import httpx

from ferryman.domain.http.url import URL
from ferryman.egress.pin import PinnedNetwork


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
    """Sends one request to `url`, exactly as it was checked.

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
