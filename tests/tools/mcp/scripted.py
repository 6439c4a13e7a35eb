"""A hostile MCP server of 2026-07-28: an honest one, of which a test writes the answers to some methods itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.types import Receive, Scope, Send

from emulator.internet.mcp import SimulatedMcpServer

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Takes the params of a request, and returns its result."""


class ScriptedServer:
    """The server in `app`, whose `answers` are by method; `seen` has the params of every request that they answered."""

    def __init__(self, app: SimulatedMcpServer, answers: Mapping[str, Answer]) -> None:
        self._app, self._answers = app, answers
        self.seen: list[tuple[str, Mapping[str, Any]]] = []

    def report(self) -> Mapping[str, object]:
        """Return what the honest server counts."""
        return self._app.report()

    def count(self, method: str) -> int:
        """Return how often `method` was answered here."""
        return sum(name == method for name, _ in self.seen)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        body = first.get("body", b"")
        message = json.loads(body or b"{}")
        answer = self._answers.get(message.get("method", ""))
        if answer is None:

            async def replay() -> Any:
                return first

            await self._app(scope, replay, send)
            return
        self.seen.append((message["method"], message.get("params", {})))
        result = {"jsonrpc": "2.0", "id": message.get("id"), "result": dict(answer(message.get("params", {})))}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(result).encode()})


class StatusServer:
    """The server in `app`, which answers `method` with an HTTP status and an error of the protocol; it counts how often."""

    def __init__(self, app: SimulatedMcpServer, method: str, status: int) -> None:
        self._app, self._method, self._status = app, method, status
        self.count = 0

    def report(self) -> Mapping[str, object]:
        """Return what the honest server counts."""
        return self._app.report()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        message = json.loads(first.get("body", b"") or b"{}")
        if message.get("method") != self._method:

            async def replay() -> Any:
                return first

            await self._app(scope, replay, send)
            return
        self.count += 1
        error = {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32000, "message": "no"}}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(error).encode()})
