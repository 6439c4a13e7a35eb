"""Web: ASGI applications served on loopback ports, inside the running event loop."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.responses import JSONResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
GRACE_S = 1


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to whoever runs the loop."""
        yield


def listen(port: int = 0) -> socket.socket:
    """A socket bound to a loopback port, a free one for 0; raises OSError when the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((LOOPBACK, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"port {port} of {LOOPBACK} cannot be had: {error.strerror}") from error
    return sock


def port_of(sock: socket.socket) -> int:
    """The port a socket is bound to."""
    port: int = sock.getsockname()[1]
    return port


REFUSED = JSONResponse({"error": "this is for programs on this machine, not for pages in a browser"}, 403)


def from_programs_only(app: App) -> App:
    """Refuse what a web page in a browser on this machine could send: another origin, or a name rebound to loopback."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").rpartition(b":")[0]
        if b"origin" in headers or host not in (b"127.0.0.1", b"localhost"):
            await REFUSED(scope, receive, send)
            return
        await app(scope, receive, send)

    return guarded


class Web:
    """Several applications on a port each, served by one server; with `tls`, over HTTPS."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._apps: dict[int, App] = {}
        self._sockets: list[socket.socket] = []
        self._server: _Quiet | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, app: App, sock: socket.socket | None = None) -> socket.socket:
        """Give an application a socket of its own before the start, by default on a free port; returns the socket."""
        sock = sock or listen()
        self._sockets.append(sock)
        self._apps[port_of(sock)] = app
        return sock

    async def start(self) -> None:
        """Return when all ports answer."""
        config = uvicorn.Config(
            self._dispatch,
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
        )
        config.load()
        config.ssl = self._tls
        self._server = _Quiet(config)
        self._task = asyncio.create_task(self._server.serve(sockets=self._sockets))
        while not self._server.started:
            if self._task.done():
                await self._task
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop listening, give open requests a second, and end them."""
        for sock in self._sockets if self._server is None else ():
            sock.close()
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._apps[scope["server"][1]](scope, receive, send)
