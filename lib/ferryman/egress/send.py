"""Sending of one request over HTTPS, by one pinned connection: one bounded response; every failure becomes a refusal."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence

import anyio
import h11
import httpcore
import httpx

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import InboundResponse, PreparedRequest
from ferryman.domain.http.url import URL
from ferryman.egress.body import ResponseBody
from ferryman.egress.checking import finish_body
from ferryman.egress.pin import Dialer, PeerNotPinnedError, PinnedNetwork


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
    """httpx over one pinned connection (SSRF protection): sends one request to `url`, as it was checked, once, by HTTP/1.1.

    httpx would normalise a path, decode a host and log both, so the request's own URL says nothing. Its extensions are not
    passed on: they could name another server, another target, or a tracer.
    """

    def __init__(self, network: PinnedNetwork, tls: ssl.SSLContext, *, url: URL, timeout_s: float) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            network_backend=network,
            max_connections=1,
            max_keepalive_connections=0,
        )
        self._url = httpcore.URL(scheme=b"https", host=url.host.encode(), port=None, target=url.target.encode())
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
    owner: str,
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
                return await _read(response, body_max, owner)
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


async def _read(response: httpx.Response, body_max: int, owner: str) -> InboundResponse:
    body = ResponseBody(response.headers.get("content-encoding", ""), body_max)
    async for chunk in response.aiter_raw():
        for _ in body.steps(chunk):
            await asyncio.sleep(0)  # let others run
        if not body.is_open:
            break
    body = await finish_body(owner, body)
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
