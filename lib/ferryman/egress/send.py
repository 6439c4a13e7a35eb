"""Sending of one request by one pinned connection: one bounded response; every failure becomes a refusal.

Over HTTPS; in clear only where the URL is one of http, which pages alone may have. No redirect is followed, no proxy used, no
cookie kept. A connection is used again within one execution and host alone.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
import h11
import httpcore
import httpx

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import InboundResponse, PreparedRequest
from ferryman.egress.connection import ClosedBeforeAnswerError, HostConnection
from ferryman.egress.idle import IdleConnections, Place
from ferryman.egress.pin import Dialer, PeerNotPinnedError, PinnedNetwork
from ferryman.egress.receive import ResponseFeed, receive
from ferryman.egress.sessions import TlsSessions
from ferryman.ports.gate import SendingState

PLACEHOLDER_URL = "https://upstream.invalid/"  # the URL that httpx sees: it may show what it sees


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """One request ready to be sent: it may take `within_s` seconds, and its response `body_max` decoded bytes.

    `place` is where its connection may wait for the next request, among `idle`, and its TLS session for the next connection,
    among `sessions`; None: it is closed, and forgotten. `repeatable` tells that the request may be sent again. `state`
    notes that its first byte is about to leave. `feed` reads the response as it arrives.
    """

    prepared: PreparedRequest
    body_max: int
    within_s: float
    owner: str
    idle: IdleConnections | None = None
    sessions: TlsSessions | None = None
    place: Place | None = None
    repeatable: bool = False
    state: SendingState = field(default_factory=SendingState)
    feed: ResponseFeed | None = None

    def take_connection(self) -> HostConnection | None:
        """Return an idle connection that the request may be sent by."""
        if self.idle is None or self.place is None:
            return None
        return self.idle.take(self.place, repeatable=self.repeatable)

    def take_session(self, tls: ssl.SSLContext) -> ssl.SSLSession | None:
        """Return the TLS session that a new connection may resume."""
        return None if self.sessions is None or self.place is None else self.sessions.take(self.place, tls)

    def keep_session(self, connection: HostConnection) -> None:
        """Keep the TLS session of a new connection for the next one."""
        if self.sessions is not None and self.place is not None:
            self.sessions.put(self.place, connection)


async def send(sending: Sending, addresses: Sequence[Address], *, dialer: Dialer, tls: ssl.SSLContext) -> InboundResponse:
    """Send the request to one of `addresses` by a connection of its own; return the response. Raise `CallRefusedError`."""
    host = sending.prepared.url.host
    with _translating_errors(host, sending.within_s):
        async with asyncio.timeout(sending.within_s):
            url = sending.prepared.url
            network, session = PinnedNetwork(host, addresses, dialer, port=url.port), sending.take_session(tls)
            context = tls if url.scheme == "https" else None
            connection = await HostConnection.open(network, context, host, sending.within_s, session=session)
            inbound = await _exchange(sending, connection)
            sending.keep_session(connection)
            return inbound


async def send_again_on(sending: Sending, connection: HostConnection) -> InboundResponse | None:
    """Send the request by a connection that was used before; return the response.

    Return None where the peer had closed it before it answered, and the request may be sent again (RFC 9110, 9.2.2). Raise
    `CallRefusedError`.
    """
    try:
        with _translating_errors(sending.prepared.url.host, sending.within_s, passing=sending.repeatable):
            async with asyncio.timeout(sending.within_s):
                return await _exchange(sending, connection)
    except ClosedBeforeAnswerError:
        return None


@contextmanager
def _translating_errors(host: str, within_s: float, *, passing: bool = False) -> Iterator[None]:
    """Raise each failure as `CallRefusedError`; `passing` lets `ClosedBeforeAnswerError` pass."""
    try:
        yield
    except PeerNotPinnedError:
        raise CallRefusedError(refusal.refuse_address(host)) from None
    except (TimeoutError, httpcore.ConnectTimeout, httpcore.ReadTimeout, httpcore.WriteTimeout):
        raise CallRefusedError(refusal.report_timeout(within_s)) from None
    except httpcore.ConnectError as error:
        raise CallRefusedError(refusal.report_failure(_describe_connect_error(error))) from None
    except ClosedBeforeAnswerError as closed:
        if passing:
            raise
        raise CallRefusedError(refusal.report_failure(str(closed))) from None
    except (httpcore.NetworkError, anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError, OSError):
        raise CallRefusedError(refusal.report_failure("the connection broke")) from None
    except (h11.ProtocolError, httpx.HTTPError, httpx.InvalidURL, ValueError):
        raise CallRefusedError(refusal.report_failure("the answer was not valid HTTP")) from None


async def _exchange(sending: Sending, connection: HostConnection) -> InboundResponse:
    prepared, is_reusable = sending.prepared, False
    headers = [("host", prepared.url.host), *prepared.headers]
    if sending.place is None:
        headers.append(("connection", "close"))
    try:
        connection.url = prepared.url
        request = httpx.Request(prepared.method.value, PLACEHOLDER_URL, headers=headers, content=prepared.body)
        sending.state.begun = True
        response = await connection.handle_async_request(request)
        inbound = await receive(response, sending.body_max, sending.owner, sending.feed)
        is_reusable = sending.idle is not None and sending.place is not None and sending.idle.put(sending.place, connection)
        return inbound
    finally:
        if not is_reusable:
            await connection.aclose()


def _describe_connect_error(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return "the TLS connection could not be made"
        error = error.__cause__ or error.__context__
    return "the connection was refused"
