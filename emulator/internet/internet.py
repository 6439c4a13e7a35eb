"""The internet itself: one HTTPS server for all canned hosts, the name table, and the record of requests."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request

from emulator.clock import Clock
from emulator.files import replace
from emulator.internet.authority import Authority
from emulator.internet.names import Entry, Names, host_name
from emulator.internet.oauth import Rules, Server
from emulator.internet.routes import Asked, Route, answer, find
from emulator.reading import Invalid
from emulator.web import Receive, Scope, Send, Web, port_of

KEPT = 10_000


class Internet:
    """
    Names, certificates and canned hosts. Files: `internet.json` (what functions read) and `internet/` in the folder.
    """

    def __init__(self, folder: Path, *, clock: Clock, sock: socket.socket | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._clock = clock
        self._files = folder / "internet"
        self._authority = Authority(self._files)
        self._bundle = self._files / "bundle.pem"
        self._own: dict[str, str] = {}
        self._write_bundle()
        self._names = Names(folder / "internet.json", allocated=self._files / "addresses.json", ca=self._bundle)
        self._routes: dict[str, tuple[Route, ...]] = {}
        self._servers: dict[str, Server] = {}
        self._asked: deque[Asked] = deque(maxlen=KEPT)
        self._web = Web(tls=self._authority.context(lambda name: name in self._routes or name in self._servers))
        self.port = port_of(self._web.add(self._serve, sock))

    @property
    def table(self) -> Path:
        """The file of names, which functions are given as FERRYMAN_PRETEND_INTERNET."""
        return self._names.path

    @property
    def bundle(self) -> Path:
        """The file of trusted CAs: the local one and the user's own."""
        return self._bundle

    async def start(self) -> None:
        """Serve."""
        await self._web.start()

    async def close(self) -> None:
        """Stop serving; the files stay."""
        await self._web.close()

    def can(
        self, host: str, routes: Iterable[Route], *, addresses: Sequence[str] = (), dial: Mapping[str, int] | None = None
    ) -> Entry:
        """Let a host answer with these routes; of given addresses, `dial` maps those that lead somewhere. Raises Invalid."""
        entry = self._names.put(host, port=self.port, addresses=addresses, dial=dial)
        self._servers.pop(host_name(host), None)
        self._routes[host_name(host)] = tuple(routes)
        return entry

    def authorize(self, host: str, rules: Rules) -> Entry:
        """Let a host be an OAuth server that knows no token yet. Raises Invalid."""
        entry = self._names.put(host, port=self.port)
        self._routes.pop(host_name(host), None)
        self._servers[host_name(host)] = Server(rules, self._clock)
        return entry

    def server(self, host: str) -> Server | None:
        """The OAuth server at a host."""
        return self._servers.get(host.lower())

    def map(self, host: str, port: int, *, addresses: Sequence[str] = (), dial: Mapping[str, int] | None = None) -> Entry:
        """Let a name stand for a server of the user's own on a loopback port. Raises Invalid."""
        entry = self._names.put(host, port=port, addresses=addresses, dial=dial)
        self._routes.pop(host_name(host), None)
        self._servers.pop(host_name(host), None)
        return entry

    def remove(self, host: str) -> bool:
        """Forget a host; false if it was not there. Its address stays its own."""
        self._routes.pop(host.lower(), None)
        self._servers.pop(host.lower(), None)
        return self._names.remove(host)

    def hosts(self) -> Mapping[str, Mapping[str, object]]:
        """Every name with its addresses, its ports and, for a canned one, how many routes it has."""
        return {
            host: {
                "addresses": list(entry.addresses),
                "dial": dict(entry.dial),
                "routes": len(self._routes[host]) if host in self._routes else None,
            }
            for host, entry in self._names.entries().items()
        }

    def trust(self, path: Path) -> None:
        """Add the CA certificates of a PEM file to the bundle; raises Invalid when it holds none."""
        try:
            text = path.read_text()
            ssl.create_default_context(cadata=text)
        except (OSError, ValueError, ssl.SSLError) as error:
            raise Invalid(f"{path} cannot be read as a PEM file of certificates: {error}") from error
        self._own[str(path)] = text
        self._write_bundle()

    def requests(self, host: str | None = None) -> list[Asked]:
        """What canned hosts were asked, oldest first: the last 10,000."""
        return [asked for asked in self._asked if host in (None, asked.host)]

    def forget(self) -> None:
        """Drop the record of requests."""
        self._asked.clear()

    def _write_bundle(self) -> None:
        replace(self._bundle, "\n".join([self._authority.pem, *self._own.values()]))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        asked = Asked(
            host=request.headers.get("host", "").partition(":")[0].lower(),
            method=request.method,
            # The path as it came: decoding it would hide how it was written.
            path=scope["raw_path"].decode("latin-1"),
            query=scope["query_string"].decode("latin-1"),
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
            body=body,
            at=self._clock.now().timestamp(),
        )
        self._asked.append(asked)
        if asked.host in self._servers:
            await self._servers[asked.host](scope, _again(body, receive), send)
            return
        route = find(self._routes.get(asked.host, ()), asked.method, asked.path)
        if route is not None and route.delay_s:
            await asyncio.sleep(route.delay_s)
        await answer(route, asked)(scope, receive, send)


def _again(body: bytes, receive: Receive) -> Receive:
    """What was received, once more; then whatever comes after it."""
    given = False

    async def receiving() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
