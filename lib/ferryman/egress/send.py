"""Send: one request, one bounded answer; every failure becomes a sentence of ours."""

from __future__ import annotations

import ssl
from collections.abc import Sequence

import anyio
import h11
import httpcore
import httpx

from ferryman.domain import refusal
from ferryman.domain.address import Address
from ferryman.domain.http import Inbound, Prepared
from ferryman.domain.refusal import Refused
from ferryman.egress.body import Body
from ferryman.egress.pin import Dialer, Pinned, Unpinned
from ferryman.egress.transport import ANYWHERE, Transport


async def send(
    prepared: Prepared,
    addresses: Sequence[Address],
    *,
    dialer: Dialer,
    tls: ssl.SSLContext,
    body_max: int,
    within_s: float,
) -> Inbound:
    """Carry `prepared` to one of `addresses` and read at most `body_max` decoded bytes, or raise `Refused`.

    `within_s` bounds each step; the caller bounds them all together. No redirect is followed, no proxy used, no cookie kept,
    no connection used twice.
    """
    network = Pinned(prepared.url.host, addresses, dialer)
    transport = Transport(network, tls, url=prepared.url, timeout_s=within_s)
    headers = [("host", prepared.url.host), *prepared.headers, ("connection", "close")]
    try:
        async with httpx.AsyncClient(transport=transport, follow_redirects=False, trust_env=False) as client:
            request = httpx.Request(prepared.method.value, ANYWHERE, headers=headers, content=prepared.body)
            response = await client.send(request, stream=True)
            try:
                return await _read(response, body_max)
            finally:
                await response.aclose()
    except Unpinned:
        raise Refused(refusal.not_resolved(prepared.url.host)) from None
    except (httpcore.ConnectTimeout, httpcore.ReadTimeout, httpcore.WriteTimeout, httpcore.PoolTimeout):
        raise Refused(refusal.timed_out(within_s)) from None
    except httpcore.ConnectError as error:
        raise Refused(refusal.failed(_connection(error))) from None
    except (httpcore.NetworkError, anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError, OSError):
        raise Refused(refusal.failed("the connection broke")) from None
    except (httpcore.ProtocolError, h11.ProtocolError, httpx.HTTPError, httpx.InvalidURL, ValueError):
        raise Refused(refusal.failed("the answer was not valid HTTP")) from None


def _connection(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return "the TLS connection could not be made"
        error = error.__cause__ or error.__context__
    return "the connection was refused"


async def _read(response: httpx.Response, most: int) -> Inbound:
    body = Body(response.headers.get("content-encoding", ""), most)
    async for chunk in response.aiter_raw():
        if not body.feed(chunk):
            break
    body.end()
    return Inbound(
        status=response.status_code,
        headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw),
        body=body.content,
        size_bytes=_declared(response, body.received) if body.cut else body.received,
        cut=body.cut,
    )


def _declared(response: httpx.Response, read: int) -> int:
    """The size the other end announced, where reading stopped early (S0-120)."""
    text = response.headers.get("content-length", "")
    return max(read, int(text)) if text.isascii() and text.isdigit() and len(text) < 16 else read
