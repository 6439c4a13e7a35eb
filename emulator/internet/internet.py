"""The internet itself: one server for all canned hosts, with TLS and in clear, the name table, and the record of requests."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request

from emulator.clock import EmulatorClock
from emulator.files import replace
from emulator.internet.authority import Authority
from emulator.internet.mcp import McpRules, SimulatedMcpServer
from emulator.internet.names import HostEntry, HostNames, host_name
from emulator.internet.oauth import OAuthServer, Rules
from emulator.internet.routes import ReceivedRequest, Route, answer, find
from emulator.internet.search import MetaSearch, build_sites
from emulator.reading import InvalidRequestError
from emulator.web import Receive, Scope, Send, Web, port_of

REQUESTS_MAX = 10_000


class Internet:
    """
    Names, certificates and canned hosts. Files: `internet.json` (what functions read) and `internet/` in the folder.
    """

    def __init__(
        self, folder: Path, *, clock: EmulatorClock, sock: socket.socket | None = None, clear: socket.socket | None = None
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._clock = clock
        self._files = folder / "internet"
        self._authority = Authority(self._files)
        self._bundle = self._files / "bundle.pem"
        self._user_hosts: dict[str, str] = {}
        self._write_bundle()
        client = self._authority.client()
        self._routes: dict[str, tuple[Route, ...]] = {}
        self._servers: dict[str, OAuthServer] = {}
        self._mcp_servers: dict[str, SimulatedMcpServer] = {}
        self._requests: deque[ReceivedRequest] = deque(maxlen=REQUESTS_MAX)
        self.search = MetaSearch(self._requests.append, lambda: clock.now().timestamp())
        self._web = Web(tls=self._authority.context(self._is_served))
        self.port = port_of(self._web.add(self._serve, sock))
        self._clear_web = Web(is_name=self._is_served)
        self._names = HostNames(
            folder / "internet.json",
            allocated=self._files / "addresses.json",
            ca=self._bundle,
            client=client,
            clear={self.port: port_of(self._clear_web.add(self._serve, clear))},
        )

    def _is_served(self, name: str) -> bool:
        return name in self._routes or name in self._servers or name in self._mcp_servers

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
        await self._clear_web.start()

    async def close(self) -> None:
        """Stop serving; the files stay."""
        await self._web.close()
        await self._clear_web.close()

    def can(
        self, host: str, routes: Iterable[Route], *, addresses: Sequence[str] = (), dial: Mapping[str, int] | None = None
    ) -> HostEntry:
        """Let a host answer with these routes; of given addresses, `dial` maps those that lead somewhere. Raise
        InvalidRequestError."""
        entry = self._names.put(host, port=self.port, addresses=addresses, dial=dial)
        self._forget_host(host_name(host))
        self._routes[host_name(host)] = tuple(routes)
        return entry

    def serve_pages(self) -> None:
        """Let the sites answer that the search engine knows."""
        for host, routes in build_sites().items():
            self.can(host, routes)

    def authorize(self, host: str, rules: Rules) -> HostEntry:
        """Let a host be an OAuth server that knows no token yet. Raise InvalidRequestError."""
        entry = self._names.put(host, port=self.port)
        self._forget_host(host_name(host))
        self._servers[host_name(host)] = OAuthServer(rules, self._clock)
        return entry

    def serve_mcp(self, host: str, rules: McpRules) -> HostEntry:
        """Let a host be an MCP server. Raise InvalidRequestError."""
        entry = self._names.put(host, port=self.port)
        self._forget_host(host_name(host))
        self._mcp_servers[host_name(host)] = SimulatedMcpServer(host_name(host), rules, self._clock, self._is_token)
        return entry

    def server(self, host: str) -> OAuthServer | None:
        """Return the OAuth server at a host."""
        return self._servers.get(host.lower())

    def mcp_server(self, host: str) -> SimulatedMcpServer | None:
        """Return the MCP server at a host."""
        return self._mcp_servers.get(host.lower())

    def map(self, host: str, port: int, *, addresses: Sequence[str] = (), dial: Mapping[str, int] | None = None) -> HostEntry:
        """Let a name stand for a server of the user's own on a loopback port. Raise InvalidRequestError."""
        entry = self._names.put(host, port=port, addresses=addresses, dial=dial)
        self._forget_host(host_name(host))
        return entry

    def slow(self, host: str, lookup_s: float) -> None:
        """Let each lookup of a host's name take so many seconds. Raise InvalidRequestError."""
        self._names.slow(host, lookup_s)

    def remove(self, host: str) -> bool:
        """Forget a host; false if it was not there. Its address stays its own."""
        self._forget_host(host.lower())
        return self._names.remove(host)

    def _forget_host(self, host: str) -> None:
        for kind in (self._routes, self._servers, self._mcp_servers):
            kind.pop(host, None)

    def _is_token(self, host: str, token: str, resource: str) -> bool:
        server = self._servers.get(host)
        return server is not None and server.is_valid(token, resource)

    def hosts(self) -> Mapping[str, Mapping[str, object]]:
        """Return every name with its addresses, its ports and, for a canned one, how many routes it has."""
        return {
            host: {
                "addresses": list(entry.addresses),
                "dial": dict(entry.dial),
                "routes": len(self._routes[host]) if host in self._routes else None,
            }
            for host, entry in self._names.entries().items()
        }

    def trust(self, path: Path) -> None:
        """Add the CA certificates of a PEM file to the bundle; raise InvalidRequestError when it holds none."""
        try:
            text = path.read_text()
            ssl.create_default_context(cadata=text)
        except (OSError, ValueError, ssl.SSLError) as error:
            raise InvalidRequestError(f"{path} cannot be read as a PEM file of certificates: {error}") from error
        self._user_hosts[str(path)] = text
        self._write_bundle()

    def requests(self, host: str | None = None) -> list[ReceivedRequest]:
        """Return the requests to canned hosts, oldest first: the last 10,000."""
        return [received for received in self._requests if host in (None, received.host)]

    def forget(self) -> None:
        """Drop the record of requests."""
        self._requests.clear()

    def _write_bundle(self) -> None:
        replace(self._bundle, "\n".join([self._authority.pem, *self._user_hosts.values()]))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        received = ReceivedRequest(
            host=request.headers.get("host", "").partition(":")[0].lower(),
            method=request.method,
            # The path as it came: decoding it would hide how it was written.
            path=scope["raw_path"].decode("latin-1"),
            query=scope["query_string"].decode("latin-1"),
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
            body=body,
            at=self._clock.now().timestamp(),
        )
        self._requests.append(received)
        if received.host in self._servers:
            await self._servers[received.host](scope, _repeat(body, receive), send)
            return
        if received.host in self._mcp_servers:
            await self._mcp_servers[received.host](scope, _repeat(body, receive), send)
            return
        route = find(self._routes.get(received.host, ()), received.method, received.path)
        if route is not None and route.delay_s:
            await asyncio.sleep(route.delay_s)
        await answer(route, received)(scope, receive, send)


def _repeat(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that repeats this message, then receives what follows."""
    message = False

    async def receiving() -> MutableMapping[str, Any]:
        nonlocal message
        if message:
            return await receive()
        message = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
