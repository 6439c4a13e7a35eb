"""Transport: httpx over one connection that is pinned, HTTP/1.1 only, and never used again."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

import httpcore
import httpx

from ferryman.egress.pin import Pinned


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._response.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()


class Transport(httpx.AsyncBaseTransport):
    """Carries one request to `target`, the path and query exactly as they were judged.

    httpx would normalise a path and log the URL, so the request's own URL names the host only. Its extensions are not passed
    on: they could name another server, another target, or a tracer.
    """

    def __init__(self, network: Pinned, tls: ssl.SSLContext, *, target: str, timeout_s: float) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            network_backend=network,
            http1=True,
            http2=False,
            retries=0,
            max_connections=1,
            max_keepalive_connections=0,
        )
        self._target = target.encode("ascii")
        self._timeout = dict.fromkeys(("connect", "read", "write", "pool"), timeout_s)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(scheme=b"https", host=request.url.raw_host, port=None, target=self._target)
        response = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=url,
                headers=request.headers.raw,
                content=request.stream,
                extensions={"timeout": self._timeout},
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Stream(response))

    async def aclose(self) -> None:
        await self._pool.aclose()
