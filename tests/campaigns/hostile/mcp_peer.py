"""A hostile MCP server: what it answers to each method, request by request, as data that a scenario writes."""

from __future__ import annotations

import functools
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.campaigns.hostile.spelling import fill

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ID, PROGRESS = "$id", "$progress"
"""Texts that stand for the id of the request, and for its progress token."""

ECHO: Mapping[str, Any] = {
    "name": "echo",
    "description": "Answers the text that it is given.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
ZEROS = b"gzip"
ZEROS_MIB = 1_024
EVENTS = {"content-type": "text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """An answer below the protocol: `body` may hold `$id` and `$progress`; `bit` follows it so many `times`, each after
    `pause_s` seconds, and then the end. A body of `ZEROS` is a gigabyte of zeros, packed."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    body: str | bytes = ""
    bit: bytes = b""
    times: int = 0
    pause_s: float = 0.0
    renames: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages as they are, one event each, instead of a result."""

    messages: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RpcError:
    """An error of JSON-RPC instead of a result."""

    message: str
    code: int = -32000
    data: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPeer:
    """A server. The n-th `tools/list` is answered by the n-th of `listings`, and each after those by the last; without any, by
    `tools`. So are `tools/call` by `results`, and other methods by what `methods` has for them. Each is a result, a tuple of
    tools, `Messages`, an `RpcError` or an `HttpAnswer`. `legacy` speaks 2025-11-25; with `sse`, results are streamed.
    """

    tools: tuple[Mapping[str, Any], ...] = (ECHO,)
    listings: tuple[Any, ...] = ()
    results: tuple[Any, ...] = ({"content": [{"type": "text", "text": "{marker}"}]},)
    methods: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    instructions: str = "Use it."
    info: Mapping[str, Any] = field(default_factory=lambda: {"name": "peer", "version": "1"})
    legacy: bool = False
    sse: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter, repr=False, compare=False)

    def enter(self, words: Mapping[str, str]) -> McpPeer:
        """Return it for a scenario's run, with the words of its texts and a count of its own."""
        return replace(self, words=words, counts=Counter())

    def respond(self, body: bytes) -> HttpAnswer:
        """Return what a request is answered with."""
        try:
            message: Any = json.loads(body)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            return HttpAnswer(status=400)
        if "id" not in message or "method" not in message:
            return HttpAnswer(status=202, headers={})
        method = str(message["method"])
        if self.legacy and method == "server/discover":
            return HttpAnswer(status=400, headers={"content-type": "text/plain"}, body="no session")
        answers = self._list_answers(method)
        number = self.counts[method]
        self.counts[method] += 1
        if not answers:
            return self._write(message, RpcError("no such method", -32601))
        return self._write(message, answers[min(number, len(answers) - 1)])

    def _list_answers(self, method: str) -> Sequence[Any]:
        if method in self.methods:
            return self.methods[method]
        if method == "tools/list":
            return self.listings or (self.tools,)
        if method == "tools/call":
            return self.results
        if method == "server/discover":
            return (
                {
                    "supportedVersions": [MODERN],
                    "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
                    "instructions": self.instructions,
                    "_meta": {"io.modelcontextprotocol/serverInfo": self.info},
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        if method == "initialize" and self.legacy:
            return (
                {
                    "protocolVersion": LEGACY,
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": self.info,
                    "instructions": self.instructions,
                },
            )
        return ()

    def _write(self, message: Mapping[str, Any], item: Any) -> HttpAnswer:
        if isinstance(item, HttpAnswer):
            body = _pack_zeros() if item.body == ZEROS else item.body
            if isinstance(body, str):
                body = fill(body, self.words).replace(f'"{ID}"', json.dumps(message["id"]))
                body = body.replace(f'"{PROGRESS}"', json.dumps(message["id"]))
            headers, renames = fill(dict(item.headers), self.words), fill(dict(item.renames), self.words)
            return replace(item, body=body, headers=headers, renames=renames)
        session = {"mcp-session-id": "s1"} if self.legacy and message["method"] == "initialize" else {}
        if isinstance(item, Messages):
            return self._send(self._fill(list(item.messages), message), session, sse=True)
        if isinstance(item, RpcError):
            error = {"code": item.code, "message": item.message, **({"data": item.data} if item.data is not None else {})}
            return self._send([{"jsonrpc": "2.0", "id": message["id"], "error": self._fill(error, message)}], session)
        result = {"tools": list(item)} if isinstance(item, tuple) else dict(item)
        if not self.legacy:
            extra = {"ttlMs": 0, "cacheScope": "private"} if message["method"] == "tools/list" else {}
            result = {"resultType": "complete", **extra, **result}
        return self._send([{"jsonrpc": "2.0", "id": message["id"], "result": self._fill(result, message)}], session)

    def _send(self, messages: Sequence[Any], headers: Mapping[str, str], *, sse: bool = False) -> HttpAnswer:
        if sse or self.sse:
            body = "".join(f"data: {json.dumps(item)}\n\n" for item in messages)
            return HttpAnswer(headers={**EVENTS, **headers}, body=body.encode())
        return HttpAnswer(
            headers={"content-type": "application/json", **headers}, body=json.dumps(messages[-1], ensure_ascii=False).encode()
        )

    def _fill(self, value: Any, message: Mapping[str, Any]) -> Any:
        meta = message.get("params", {}).get("_meta", {}) if isinstance(message.get("params"), dict) else {}
        return _replace(fill(value, self.words), {ID: message["id"], PROGRESS: meta.get("progressToken")})


@functools.cache
def _pack_zeros() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1_048_576)
    return b"".join([*(packer.compress(zeros) for _ in range(ZEROS_MIB)), packer.flush()])


def _replace(value: Any, marks: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return marks.get(value, value)
    if isinstance(value, dict):
        return {key: _replace(inner, marks) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace(inner, marks) for inner in value]
    return value
