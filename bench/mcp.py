"""200 `tools/call` at once on one instance: processor time of the server's process, ours beside the server of the `mcp` SDK.

Both are asked the same bytes on the same connections, in turn, in one run; both answer the text of the conformance suite's tool
`test_simple_text`, in 2026-07-28 and in a session of 2025-11-25.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from bench import Row, show
from bench.cpu import measure_tree
from tests.campaigns.mcp.installing import NoSuiteError, install_peer
from tests.campaigns.mcp.servers import Instance, serve_ours, serve_peer

AT_ONCE = 200
ROUNDS = 12
CALLS_EACH = 5
BAR = 0.5
TEXT = "This is a simple text response for testing."
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT = "application/json, text/event-stream"


class Connection:
    """A connection that is used again and again."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self._reader, self._writer, self._port = reader, writer, port

    async def post(self, message: Any, headers: dict[str, str]) -> tuple[dict[str, str], bytes]:
        """Send a message and return the headers and the body of the answer. Raise RuntimeError unless it is 200 or 202."""
        body = json.dumps(message).encode()
        head = {"Host": f"127.0.0.1:{self._port}", "Content-Type": "application/json", "Accept": ACCEPT, **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**head, "Content-Length": str(len(body))}.items())
        self._writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)
        received = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        answered = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in received[1:-2])}
        content = await self._read_body(answered)
        if received[0].split()[1] not in ("200", "202"):
            raise RuntimeError(f"{received[0]}: {content[:200]!r}")
        return answered, content

    async def _read_body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await self._reader.readexactly(int(headers.get("content-length", "0")))
        content = b""
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            content += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)
        return content

    def close(self) -> None:
        """Close it."""
        self._writer.close()


class Clients:
    """`AT_ONCE` connections to one server, opened for each measurement: what is idle for seconds is closed."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.port = urlsplit(instance.url).port or 0
        self._connections: list[Connection] = []

    async def connect(self) -> None:
        """Open the connections."""
        for _ in range(AT_ONCE):
            self._connections.append(Connection(*await asyncio.open_connection("127.0.0.1", self.port), self.port))

    async def initialize(self) -> dict[str, str]:
        """Begin a session of 2025 and return its headers."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        first = self._connections[0]
        headers, _ = await first.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, {})
        session = {"Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        await first.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
        return session

    async def measure(self, params: dict[str, Any], headers: dict[str, str]) -> float:
        """Make `CALLS_EACH` calls on all connections at once, and return the server's processor time for one, in ms."""
        self.close()
        await self.connect()
        spent = measure_tree(self.instance.process)
        await asyncio.gather(*(self._call(n, connection, params, headers) for n, connection in enumerate(self._connections)))
        return (measure_tree(self.instance.process) - spent) * 1000 / (AT_ONCE * CALLS_EACH)

    async def _call(self, number: int, connection: Connection, params: dict[str, Any], headers: dict[str, str]) -> None:
        for step in range(CALLS_EACH):
            id_ = number * CALLS_EACH + step + 1
            message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
            _, content = await connection.post(message, headers)
            if TEXT.encode() not in content:
                raise RuntimeError(f"another answer: {content[:200]!r}")

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()


async def compare() -> dict[str, tuple[float, float]]:
    """Return the milliseconds of processor time per call by revision: the medians of ours and of the SDK's server."""
    spent: dict[str, tuple[list[float], list[float]]] = {"2026-07-28": ([], []), "2025-11-25": ([], [])}
    params: dict[str, Any] = {"name": "test_simple_text", "arguments": {}}
    modern = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "test_simple_text"}
    async with serve_ours(with_log=False) as ours, serve_peer(is_plain=True) as peer:
        both = Clients(ours), Clients(peer)
        sessions = []
        for clients in both:
            await clients.connect()
            sessions.append(await clients.initialize())
        for number in range(ROUNDS + 1):
            for place, clients in enumerate(both):
                new = await clients.measure({**params, "_meta": _META}, modern)
                old = await clients.measure(params, sessions[place])
                if number:  # the first one warms up
                    spent["2026-07-28"][place].append(new)
                    spent["2025-11-25"][place].append(old)
            print(f"round {number} of {ROUNDS}", file=sys.stderr, flush=True)
        for clients in both:
            clients.close()
    return {name: (statistics.median(first), statistics.median(second)) for name, (first, second) in spent.items()}


def rows() -> Iterator[Row]:
    """Measure, and yield the rows."""
    what = f"{AT_ONCE} `tools/call` of MCP at once on one instance, processor time beside the server of mcp 2.3.0"
    try:
        install_peer()
    except NoSuiteError as error:
        yield Row(what, f"≤ {BAR} ×", f"not measured: {error}", reached=False)
        return
    for revision, (ours, theirs) in asyncio.run(compare()).items():
        ratio = ours / theirs
        measured = f"{ratio:.2f} × ({ours:.2f} ms against {theirs:.2f} ms)"
        yield Row(f"{what}, {revision}", f"≤ {BAR} ×", measured, reached=ratio <= BAR)


if __name__ == "__main__":
    sys.exit(show(rows()))
