"""A client of an MCP server in this process: messages in, answers out, as a server of HTTP hands them over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from starlette.requests import Request

from ferryman.domain.mcp_headers import NAMED_BY
from ferryman.domain.mcp_revisions import CLIENT_CAPABILITIES, CLIENT_INFO, MODERN, PROTOCOL_VERSION
from ferryman.serving.mcp import McpServer, respond

ACCEPT = "application/json, text/event-stream"
INFO = {"name": "test", "version": "1"}


@dataclass
class Answer:
    """What the server answered, as far as it has come."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    @property
    def messages(self) -> list[Any]:
        """The messages that have come, in order."""
        if not self.is_stream:
            return [json.loads(self.body)] if self.body else []
        texts = [event.partition("data: ")[2] for event in self.body.decode().split("\n\n")]
        return [json.loads(text) for text in texts if text]

    @property
    def result(self) -> Any:
        return self.messages[-1]["result"]

    @property
    def error(self) -> Any:
        return self.messages[-1]["error"]

    @property
    def code(self) -> int:
        return int(self.error["code"])


class Posting:
    """A POST under way: its answer grows, and the client may leave."""

    def __init__(self, server: McpServer, body: bytes, headers: list[tuple[str, str]], *, verb: str = "POST") -> None:
        self.answer = Answer()
        self.body = body
        self._leaving = asyncio.Event()
        self._news = asyncio.Event()
        self._inbox: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
        scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": verb}
        scope |= {"scheme": "http", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "root_path": ""}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
        scope["headers"] = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        self.task = asyncio.create_task(self._run(server, scope))

    async def _run(self, server: McpServer, scope: dict[str, Any]) -> None:
        response = await respond(server, Request(scope, self._receive, self._send))
        await response(scope, self._receive, self._send)
        self._news.set()

    async def _receive(self) -> dict[str, Any]:
        if self._inbox:
            return self._inbox.pop()
        await self._leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.answer.status = message["status"]
            self.answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        self.answer.body += message.get("body", b"")
        self._news.set()

    async def wait_for_start(self) -> None:
        """Wait until the answer has begun."""
        while not self.answer.status:
            self._news.clear()
            await self._news.wait()

    async def wait_for(self, messages: int) -> list[Any]:
        """Wait until so many messages have come, and return them."""
        while len(self.answer.messages) < messages:
            self._news.clear()
            await self._news.wait()
        return self.answer.messages

    async def leave(self) -> None:
        """Close the connection, and wait until the server has noticed."""
        self._leaving.set()
        await self.task

    async def finish(self) -> Answer:
        """Wait for the end of the answer."""
        await self.task
        return self.answer


class Client:
    """A client of `server`: of 2026-07-28 by `call`, of 2025-11-25 after `initialize`."""

    def __init__(self, server: McpServer, *, capabilities: Mapping[str, Any] | None = None) -> None:
        self.server = server
        self.capabilities = dict(capabilities or {})
        self.session: str | None = None
        self._ids = count(1)

    def post(self, body: Any, headers: Mapping[str, str] | None = None, *, verb: str = "POST") -> Posting:
        """Begin a POST of `body`, bytes or a message, with `headers` beside the usual ones; one that is "" is not sent."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        usual = {"content-type": "application/json", "accept": ACCEPT, "host": "127.0.0.1:80"}
        merged = {**usual, **{name.lower(): value for name, value in (headers or {}).items()}}
        return Posting(self.server, content, [(name, value) for name, value in merged.items() if value], verb=verb)

    async def send(self, body: Any, headers: Mapping[str, str] | None = None, *, verb: str = "POST") -> Answer:
        return await self.post(body, headers, verb=verb).finish()

    def begin(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> Posting:
        """Begin a request of 2026-07-28; `headers` with _ for - take the place of those that repeat the body."""
        message = self.build(method, params)
        repeated = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if method in NAMED_BY:
            repeated["Mcp-Name"] = str(message["params"].get(NAMED_BY[method]))
        return self.post(message, {**repeated, **{name.replace("_", "-"): value for name, value in headers.items()}})

    def build(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return a request of 2026-07-28."""
        params = dict(params or {})
        meta = {PROTOCOL_VERSION: MODERN, CLIENT_INFO: INFO, CLIENT_CAPABILITIES: self.capabilities}
        params["_meta"] = {**meta, **params.get("_meta", {})}
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}

    async def call(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Make a request of 2026-07-28."""
        return await self.begin(method, params, **headers).finish()

    async def initialize(self, version: str = "2025-11-25") -> Answer:
        """Begin a session of 2025."""
        params = {"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": INFO}
        answer = await self.send({"jsonrpc": "2.0", "id": next(self._ids), "method": "initialize", "params": params})
        self.session = answer.headers.get("mcp-session-id")
        return answer

    def begin_old(self, method: str, params: Mapping[str, Any] | None = None, *, name: Any = None) -> Posting:
        """Begin a request of 2025-11-25 in this client's session, with the id `name`."""
        message = {"jsonrpc": "2.0", "id": name or next(self._ids), "method": method, "params": dict(params or {})}
        return self.post(message, self.old_headers)

    async def call_old(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Make a request of 2025-11-25."""
        return await self.begin_old(method, params).finish()

    async def notify_old(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Send a notification of 2025-11-25."""
        return await self.send({"jsonrpc": "2.0", "method": method, "params": dict(params or {})}, self.old_headers)

    @property
    def old_headers(self) -> dict[str, str]:
        """The headers of the session."""
        return {"MCP-Protocol-Version": "2025-11-25", **({"Mcp-Session-Id": self.session} if self.session else {})}
