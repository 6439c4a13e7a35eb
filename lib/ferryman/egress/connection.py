"""One connection to one host, pinned and verified: HTTP/1.1 behind httpx's transport seam, one request after the other."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress

import h11
import httpcore
import httpx

from ferryman.domain.http.url import URL
from ferryman.egress.pin import PinnedNetwork
from ferryman.egress.stream import TlsStream

HEAD_BYTES_MAX = 102_400
"""Of a response's head, a chunk's head, or trailers."""

READ_BYTES = 65_536
SWITCHING_PROTOCOLS = 101
_KEEP_ALIVE = re.compile(rb"(?:^|[ ,;])timeout=([0-9]{1,6})(?![0-9])", re.IGNORECASE)


class ClosedBeforeAnswerError(httpcore.NetworkError):
    """The peer closed the connection, or it broke, before any byte of a response was read. The text is our own."""


class HostConnection(httpx.AsyncBaseTransport):
    """A transport of httpx that sends each request to `url`, as it was checked, by HTTP/1.1, and never again by itself.

    httpx would normalise a path, decode a host and log both, so the request's own URL says nothing, and its extensions are not
    looked at: they could name another server, another target, or a tracer. There are no redirects, proxies and cookies here.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES_MAX)
        self._has_answered = False
        self._is_complete = False
        self.url: URL | None = None
        self.idle_max_s: float | None = None
        """For how long the peer says that it keeps the connection open; None where it does not say."""

    @classmethod
    async def open(
        cls,
        network: PinnedNetwork,
        tls: ssl.SSLContext | None,
        host: str,
        timeout_s: float,
        *,
        session: ssl.SSLSession | None = None,
    ) -> HostConnection:
        """Return a connection to one of the network's validated addresses, whose peer has proven to be `host`.

        Without `tls` nothing is proven, and everything is sent in clear: for pages of http, and nothing else.
        `session` is of an earlier connection to `host` under `tls`, which the peer may resume.
        """
        stream = await network.connect_tcp(host, network.port, timeout=timeout_s)
        if tls is None:
            return cls(stream)
        try:
            if isinstance(stream, TlsStream):
                stream.session = session
            return cls(await stream.start_tls(tls, server_hostname=host, timeout=timeout_s))
        except BaseException:
            await stream.aclose()
            raise

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response as soon as its head is there. Raise httpcore's errors, h11's, and `ClosedBeforeAnswerError`."""
        assert self.url is not None, "the target is set before each request"
        self._has_answered = self._is_complete = False
        head = h11.Request(method=request.method, target=self.url.target, headers=request.headers.raw)
        body = request.read()
        parts = [self._http.send(head), self._http.send(h11.Data(data=body)) if body else b""]
        parts.append(self._http.send(h11.EndOfMessage()))
        with suppress(httpcore.WriteError):  # the peer may have answered before it closed
            await self._stream.write(b"".join(part for part in parts if part))
        response = await self._read_head()
        headers = response.headers.raw_items()
        self.idle_max_s = _read_keep_alive(headers)
        return httpx.Response(response.status_code, headers=headers, stream=_Body(self))

    @property
    def tls(self) -> ssl.SSLObject | None:
        """The encryption, with its session."""
        encrypted: ssl.SSLObject | None = self._stream.get_extra_info("ssl_object")
        return encrypted

    @property
    def is_open(self) -> bool:
        """Whether nothing has arrived since the last response, its end included."""
        try:
            return not self._stream.get_extra_info("is_readable")
        except httpcore.ReadError:
            return False

    def renew(self) -> bool:
        """Tell whether another request may follow: the last response is complete, both sides keep the connection open, and
        nothing came after the response."""
        try:
            # a decoder of a content coding may have read its own end before it met that of the body
            self._is_complete = self._is_complete or isinstance(self._http.next_event(), h11.EndOfMessage)
        except h11.RemoteProtocolError:
            return False
        is_done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if not (self._is_complete and is_done) or self._http.trailing_data[0] or not self.is_open:
            return False
        self._http.start_next_cycle()
        return True

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def _read_head(self) -> h11.Response:
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse) and event.status_code != SWITCHING_PROTOCOLS:
                continue
            raise h11.RemoteProtocolError("no response")

    async def iterate_body(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body as they were received."""
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                self._is_complete = True
                return
            else:
                raise h11.RemoteProtocolError("the response has no end")

    async def _next_event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            try:
                content = await self._stream.read(READ_BYTES)
            except httpcore.ReadError as error:
                raise error if self._has_answered else ClosedBeforeAnswerError("the connection broke") from None
            if not content and not self._has_answered:
                raise ClosedBeforeAnswerError("the answer was not valid HTTP")
            self._has_answered = True
            self._http.receive_data(content)
        return event


class _Body(httpx.AsyncByteStream):
    """The body of a response, read once; closing it does not close the connection."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._connection.iterate_body()


def _read_keep_alive(headers: list[tuple[bytes, bytes]]) -> float | None:
    """Return the seconds in the header Keep-Alive."""
    values = [value for name, value in headers if name.lower() == b"keep-alive"]
    timeout = _KEEP_ALIVE.search(values[0]) if len(values) == 1 and len(values[0]) <= 256 else None
    return float(timeout[1]) if timeout else None
