"""Consent: the loopback address that the browser is redirected to (RFC 8252, 7.3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ferryman.domain.credentials.authorization_response import (
    AuthorizationResponse,
    ConsentDeclinedError,
    UnexpectedCallbackError,
    read_response,
)
from ferryman.domain.credentials.redirect_uris import HOST, PATH

HEAD_BYTES_MAX = 16_384
HEAD_S = 10.0

_DONE = "The service has answered. You may close this window and go back to the terminal."
_STRANGE = "This is not the answer that is waited for."


def choose_callback(service: str, registered: Sequence[str], port: int = 0) -> tuple[int, str]:
    """Return port and path to wait on: of the service's own loopback address, or a path that is the service's alone.

    A service has a redirect URI of its own, so that another's answer does not arrive there (mix-up attacks, RFC 9700, 4.4.2).
    """
    for uri in registered:
        parts = urlsplit(uri)
        if (parts.scheme, parts.hostname) == ("http", HOST) and parts.port is not None and port in (0, parts.port):
            return parts.port, parts.path or "/"
    return port, f"{PATH}/{service}"


@dataclass(slots=True)
class CallbackServer:
    """The server on loopback that the browser comes back to; any other request is answered and ignored."""

    path: str
    state: str = ""
    issuer: str = ""
    port: int = 0
    came: asyncio.Future[AuthorizationResponse] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def uri(self) -> str:
        return f"http://{HOST}:{self.port}{self.path}"

    async def response(self, within_s: float) -> AuthorizationResponse:
        """Return what the browser brings. Raise `ConsentDeclinedError`, or TimeoutError."""
        return await asyncio.wait_for(asyncio.shield(self.came), within_s)

    async def visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_S)
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ")
            headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
            status, text = self._answer(method, target) if self._is_own(headers) else ("421 Misdirected Request", _STRANGE)
            body = text.encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (ValueError, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not the browser
        finally:
            writer.close()

    def _is_own(self, headers: list[tuple[str, str]]) -> bool:
        """Return whether the request is for this place under its own name (no DNS rebinding), and no other page's script sent
        it."""
        address = f"{HOST}:{self.port}"
        hosts = [value for name, value in headers if name == "host"]
        return hosts == [address] and all(value == f"http://{address}" for name, value in headers if name == "origin")

    def _answer(self, method: str, target: str) -> tuple[str, str]:
        if method != "GET" or target.partition("?")[0] != self.path:
            return "404 Not Found", _STRANGE
        try:
            address = f"http://{HOST}:{self.port}{target}"
            response = read_response(address, redirect_uri=self.uri, state=self.state, issuer=self.issuer)
        except UnexpectedCallbackError:
            return "400 Bad Request", _STRANGE
        except ConsentDeclinedError as declined:
            if not self.came.done():
                self.came.set_exception(declined)
            return "200 OK", _DONE
        if not self.came.done():
            self.came.set_result(response)
        return "200 OK", _DONE


@asynccontextmanager
async def serve_callback(port: int, path: str) -> AsyncIterator[CallbackServer]:
    """Yield a landing that listens on this port of 127.0.0.1, any free one for 0. Raise OSError when it is taken."""
    place = CallbackServer(path)
    server = await asyncio.start_server(place.visit, HOST, port, limit=HEAD_BYTES_MAX)
    try:
        place.port = server.sockets[0].getsockname()[1]
        yield place
    finally:
        server.close()
        place.came.cancel()
