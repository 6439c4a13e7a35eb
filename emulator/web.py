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

from emulator.access import PortToken

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
GRACE_S = 1


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the owner of the event loop."""
        yield


def listen(port: int = 0, *, shared: bool = True) -> socket.socket:
    """Return a socket bound to a loopback port, a free one for 0; raise OSError when the port is taken.

    A `shared` one may be bound by another socket while nobody listens on it, and again while old connections are remembered.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, shared)
        sock.bind((LOOPBACK, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"port {port} of {LOOPBACK} cannot be had: {error.strerror}") from error
    return sock


def port_of(sock: socket.socket) -> int:
    """Return the port a socket is bound to."""
    port: int = sock.getsockname()[1]
    return port


FOREIGN_HOST = JSONResponse({"error": "the Host header names another server: nothing is served under that name here"}, 421)
FOREIGN_ORIGIN = JSONResponse({"error": "this is for programs on this machine, not for pages in a browser"}, 403)
NO_TOKEN = JSONResponse(
    {"error": "the request does not bear the token of this local cloud"}, 401, {"WWW-Authenticate": "Bearer"}
)


def refuse_pages(scope: Scope) -> JSONResponse | None:
    """Return the refusal of what a web page could send: a name rebound to loopback (DNS rebinding), or another origin."""
    names = [f"{name}:{scope['server'][1]}".encode() for name in (LOOPBACK, "localhost")]
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or hosts[0] not in names:
        return FOREIGN_HOST
    origins = [value for name, value in scope["headers"] if name == b"origin"]
    return None if all(value == b"http://" + hosts[0] for value in origins) else FOREIGN_ORIGIN


def refuse_strangers(scope: Scope, is_name: Callable[[str], bool]) -> JSONResponse | None:
    """Return the refusal of any Host but a bare name that is served: a browser adds the port, which is not that of HTTP."""
    hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
    return None if len(hosts) == 1 and is_name(hosts[0]) else FOREIGN_HOST


def behind_bearer(app: App, token: PortToken) -> App:
    """Wrap an application: only requests with the token in the Authorization header reach it."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
        served = app if len(values) == 1 and token.is_borne(values[0]) else NO_TOKEN
        await served(scope, receive, send)

    return guarded


def behind_path(app: App, token: PortToken) -> App:
    """Wrap an application: only requests below `/TOKEN` reach it, for clients that take an address and no header."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if not token.matches(first):
            await NO_TOKEN(scope, receive, send)
            return
        path = "/" + rest
        await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    return guarded


class Web:
    """Several applications on a port each, served by one server; with `tls`, over HTTPS.

    In clear, `is_name` tells which names are served in place of the machine's own: those of the simulated internet.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, *, is_name: Callable[[str], bool] | None = None) -> None:
        self._tls = tls
        self._is_name = is_name
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
            for connection in [*self._server.server_state.connections]:  # accepted while it was ending: nobody else ends them
                connection.transport.abort()
            await asyncio.sleep(0)  # a transport ends in the round after

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Over TLS the names are those of the simulated internet, and the certificate of its clients keeps pages out.
        if self._is_name is not None:
            refusal = refuse_strangers(scope, self._is_name)
        else:
            refusal = refuse_pages(scope) if self._tls is None else None
        await (refusal or self._apps[scope["server"][1]])(scope, receive, send)
