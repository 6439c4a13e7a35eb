"""Freezing: a function whose requests have all ended gets no processor until the next one, as with billing by request.

The function's process listens at another loopback address, and only here: what passes are HTTP/1.1 requests, one at a time on
each connection, and their answers as they come.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import h11

from emulator.web import port_of

BEHIND = "127.0.0.2"
"""Where the processes of functions listen, at the ports of their fronts. Linux has the whole of 127/8 on its loopback."""

READ_BYTES = 65_536
FREEZES_S = 0.05
"""How long after its last request a function still runs."""

_CLOSE = (b"connection", b"close")


class RequestFront:
    """A function's address: `freeze` is called once no request is open, and `thaw` before the next one is passed on."""

    def __init__(self, sock: socket.socket, *, freeze: Callable[[], None], thaw: Callable[[], None]) -> None:
        self._sock, self._port = sock, port_of(sock)
        self._freeze, self._thaw = freeze, thaw
        self._open = 0
        self._freezing: asyncio.TimerHandle | None = None
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, sock=self._sock)

    def close(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()
        if self._freezing is not None:
            self._freezing.cancel()

    def rest(self) -> None:
        """Freeze the function soon, unless a request is open."""
        if self._open == 0:
            self._freezing = asyncio.get_running_loop().call_later(FREEZES_S, self._freeze)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = h11.Connection(h11.SERVER)
        with suppress(OSError, h11.ProtocolError):
            while isinstance(request := await _read(client, reader), h11.Request):
                self._begin()
                try:
                    await self._pass_on(request, client, reader, writer)
                finally:
                    self._open -= 1
                    self.rest()
                if client.our_state is h11.MUST_CLOSE:
                    break
                client.start_next_cycle()
        writer.close()

    def _begin(self) -> None:
        self._open += 1
        if self._freezing is not None:
            self._freezing.cancel()
        self._thaw()

    async def _pass_on(
        self, request: h11.Request, client: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        behind, answers = h11.Connection(h11.CLIENT), await asyncio.open_connection(BEHIND, self._port)
        answer_reader, function = answers
        try:
            headers = [(name, value) for name, value in request.headers if name != b"connection"]
            sent = h11.Request(method=request.method, target=request.target, headers=[*headers, _CLOSE])
            function.write(behind.send(sent) or b"")
            async for part in _read_body(client, reader):
                function.write(behind.send(part) or b"")
                await function.drain()
            function.write(behind.send(h11.EndOfMessage()) or b"")
            answering = asyncio.ensure_future(self._answer(client, behind, answer_reader, writer))
            leaving = asyncio.ensure_future(reader.read(READ_BYTES))
            # a client sends nothing more before its answer: what comes is its end
            await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
                client.send_failed()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
            if not answering.cancelled():
                answering.result()
        finally:
            function.close()

    async def _answer(
        self, client: h11.Connection, behind: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while not isinstance(event := await _read(behind, reader), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                headers = [(name, value) for name, value in event.headers if name != b"connection"]
                writer.write(client.send(h11.Response(status_code=event.status_code, headers=headers)) or b"")
            elif isinstance(event, h11.Data):
                writer.write(client.send(event) or b"")
            else:  # the function has died, or closed the connection amid its answer
                raise ConnectionResetError
            await writer.drain()
        writer.write(client.send(h11.EndOfMessage()) or b"")
        await writer.drain()


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> object:
    """Return the next event of a connection."""
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(READ_BYTES))
    return event


async def _read_body(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[h11.Data]:
    """Yield the parts of a request's body."""
    while isinstance(part := await _read(connection, reader), h11.Data):
        yield part
