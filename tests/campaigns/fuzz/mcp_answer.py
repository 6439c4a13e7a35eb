"""The target of MCP's client: whatever a server answers is a result or a refusal in our own words, and a call is sent once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any

from ferryman.domain.mcp_revisions import LEGACY, MODERN
from ferryman.ports.gate import ResponseReader
from ferryman.tools.mcp.protocol import (
    ClientCapabilities,
    Completed,
    HttpMessage,
    McpClient,
    McpClientError,
    NeedsInput,
    SessionCache,
    Started,
    read_descriptor,
    render_completed,
    render_error,
)
from ferryman.tools.mcp.protocol.errors import ServerError
from ferryman.tools.mcp.protocol.sessions import ClientSession

SEPARATOR = b"\r\n\r\n"
WORD = "stranger"
"""What the sentences of the client never have of an answer with it."""

TOOL = read_descriptor({"name": "t", "inputSchema": {"type": "object"}})
ALL = ClientCapabilities(form=True, url=True, tasks=True)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


class HostileServer:
    """Answers every message with one body under one head, in pieces of `size` bytes; it counts calls of tools.

    The number 1 as an id or a token in the body is that of the request, which begins at random.
    """

    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes, size: int) -> None:
        self.status, self.headers, self.body, self.size = status, headers, body, size
        self.calls = 0

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        """Hand the response to `reader`."""
        self.calls += message.has_effect
        number = b"1" if message.body is None else str(message.body.get("id", 1)).encode()
        body = self.body
        for name in (b'"id": ', b'"progressToken": '):
            body = body.replace(name + b"1,", name + number + b",")
        if await reader.begin(self.status, self.headers):
            for start in range(0, len(body), self.size):
                if not await reader.feed(body[start : start + self.size]):
                    break
        return True


def mcp_answer(data: bytes) -> None:
    """Answer a client with a body under headers, of which `status`, `revision`, `ask` and `size` say what is done with it."""
    head, _, body = data.partition(SEPARATOR)
    pairs = [line.partition(b":") for line in head.split(b"\r\n")]
    headers = [(name.decode("latin-1").lower(), value.strip().decode("latin-1")) for name, _, value in pairs]
    named = dict(headers)
    server = HostileServer(_read_number(named, "status", 200), headers, body, max(1, _read_number(named, "size", 64)))
    revision = LEGACY[0] if named.get("revision") == "old" else MODERN
    _loop().run_until_complete(_ask(server, revision, named.get("ask", "call")))
    assert server.calls <= 1, "a call was sent twice"


def _read_number(named: dict[str, str], name: str, usual: int) -> int:
    value = named.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 3 else usual


async def _wait(_: float) -> None:
    pass


async def _ask(server: HostileServer, revision: str, what: str) -> None:
    sessions = SessionCache(clock=lambda: 0.0)
    client = McpClient(server, owner="o", revision=revision, sessions=sessions, session_key="k", capabilities=ALL, sleep=_wait)
    if revision != MODERN:
        sessions.put(client.session_key, ClientSession(id="s", revision=revision))
    asking: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
        "list": client.list_tools,
        "task": lambda: client.get_task("a"),
        "discover": client.discover,
    }
    outcome, failure = None, None
    try:
        outcome = await asking.get(what, lambda: client.call_tool(TOOL, {}))()
    except McpClientError as error:
        failure = error
    assert WORD not in str(failure)
    if isinstance(failure, ServerError):
        assert len(render_error(failure).body) < 100_000
    if isinstance(outcome, Completed):
        assert render_completed(outcome).status == 200
    else:
        assert failure is not None or what in asking or isinstance(outcome, NeedsInput | Started)
