"""Consent: where the browser leads back to (RFC 8252, 7.3), and what stands in the address that it asks for."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from ferryman.domain.oauth import ERRORS

HOST, PATH = "127.0.0.1", "/callback"
UNHEARD = 49_152
"""The port that the browser is led back to where nobody waits: its address is pasted instead."""

HEAD_BYTES_MAX = 16_384
HEAD_S = 10.0

_DONE = "The service has answered. You may close this window and go back to the terminal."
_STRANGE = "This is not the answer that is waited for."


class Declined(Exception):  # noqa: N818 - reads as the fact it states
    """The service led back without a code. The text is ours: of the service's, at most one of the standard's own words."""


class Strange(Exception):  # noqa: N818 - reads as the fact it states
    """What came is no answer to this connection."""


def code_of(address: str, state: str) -> str:
    """The code in the address that the browser was led back to; raises `Declined`, or `Strange` where the state is another."""
    try:
        said = parse_qs(urlsplit(address.strip()).query, max_num_fields=50)
    except ValueError:
        raise Strange("the address cannot be read") from None
    states = said.get("state", [])
    if len(states) != 1 or not secrets.compare_digest(states[0].encode(), state.encode()):
        raise Strange("the address has another state: it is not of this connection")
    if "error" in said:
        word = said["error"][0]
        raise Declined(f"the service answered {word}" if word in ERRORS else "the service answered with an error of its own")
    codes = said.get("code", [])
    if len(codes) != 1:
        raise Strange("the address has no code")
    return codes[0]


@dataclass(slots=True)
class Landing:
    """The place on loopback that the browser comes back to; any other visit is answered and forgotten."""

    state: str = ""
    port: int = 0
    came: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def uri(self) -> str:
        return f"http://{HOST}:{self.port}{PATH}"

    async def code(self, within_s: float) -> str:
        """The code, once the browser brings it; raises `Declined`, or TimeoutError."""
        return await asyncio.wait_for(asyncio.shield(self.came), within_s)

    async def visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_S)
            method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            status, text = self._met(method, target)
            body = text.encode()
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (ValueError, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever that was, it is not the browser
        finally:
            writer.close()

    def _met(self, method: str, target: str) -> tuple[str, str]:
        if method != "GET" or target.partition("?")[0] != PATH:
            return "404 Not Found", _STRANGE
        try:
            code = code_of(target, self.state)
        except Strange:
            return "400 Bad Request", _STRANGE
        except Declined as declined:
            if not self.came.done():
                self.came.set_exception(declined)
            return "200 OK", _DONE
        if not self.came.done():
            self.came.set_result(code)
        return "200 OK", _DONE


@asynccontextmanager
async def landing(port: int = 0) -> AsyncIterator[Landing]:
    """A landing that listens on this port of 127.0.0.1, any free one for 0; OSError when it is taken."""
    place = Landing()
    server = await asyncio.start_server(place.visit, HOST, port, limit=HEAD_BYTES_MAX)
    try:
        place.port = server.sockets[0].getsockname()[1]
        yield place
    finally:
        server.close()
        place.came.cancel()
