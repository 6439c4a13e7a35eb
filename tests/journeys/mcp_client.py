"""A client of /mcp over HTTP, as the revision 2026-07-28 has it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
TASKS = {"extensions": {f"{META}tasks": {}}}
PAGES = {"elicitation": {"url": {}}}
_NAMED_BY = {"tools/call": "name", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
_NUMBERS = count(1)


class McpClient:
    """A client with an API key; `capabilities` are what it declares."""

    def __init__(self, url: str, key: str, *, capabilities: Mapping[str, Any] | None = None, **query: str) -> None:
        headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, params=query, timeout=90)
        self.capabilities = dict(capabilities or {})

    async def __aenter__(self) -> McpClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    def build(self, method: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the message and the headers of a request."""
        meta = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": self.capabilities}
        content = {**params, "_meta": {**meta, **params.get("_meta", {})}}
        headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if method in _NAMED_BY:
            headers["Mcp-Name"] = str(params.get(_NAMED_BY[method]))
        return {"jsonrpc": "2.0", "id": next(_NUMBERS), "method": method, "params": content}, headers

    async def send(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        """Return the last message of the answer, whatever it is."""
        message, usual = self.build(method, params or {})
        answer = await self._http.post("/mcp", json=message, headers={**usual, **headers})
        return read_messages(answer.headers.get("content-type", ""), answer.text)[-1]

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of a request that succeeds."""
        message = await self.send(method, params)
        assert "result" in message, message
        result: dict[str, Any] = message["result"]
        return result

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """Return the result of a call of a tool."""
        return await self.ask("tools/call", {"name": name, "arguments": dict(arguments or {}), **params})

    @asynccontextmanager
    async def listen(self, **notifications: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Yield the messages of a subscription as they come."""
        message, headers = self.build("subscriptions/listen", {"notifications": notifications})
        async with self._http.stream("POST", "/mcp", json=message, headers=headers) as answer:
            yield _read_stream(answer)


async def _read_stream(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def read_messages(kind: str, text: str) -> list[dict[str, Any]]:
    """Return the messages of an answer, one of JSON or events."""
    if not kind.startswith("text/event-stream"):
        return [json.loads(text)]
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
