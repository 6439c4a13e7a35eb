"""Seeds: what a fuzzer begins with, from the tables of the tests."""

from __future__ import annotations

import gzip
import json

from tests.archives.forge import FORGED, LINES, WHOLE
from tests.egress.frames import FRAMES, TOKENS, TURNS
from tests.egress.malformed_urls import GRAMMAR
from tests.egress.plants import NOTATIONS, VALUES
from tests.egress.urls import ALLOWED

OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = [
    OK + b"content-length: 2\r\n\r\nab",
    OK + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    OK + b"content-encoding: gzip\r\nconnection: close\r\n\r\n" + gzip.compress(b"plain" * 99, mtime=0),
    b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"content-length: 2\r\n\r\nab",
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nwild",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 200 OK\r\ncontent-type: text/plain; charset=utf-7\r\n\r\n+ADw-",
]
ARGUMENTS = [
    {"url": "https://api.news.test/a?b=c#d", "headers": {"x-a": "b"}, "query_params": {"a": [1, None, "x"]}},
    {"url": "https://api.news.test/hook", "body": {"a": [1.5, None, {"b": "c"}]}},
    {"url": "https://evil.test/", "credential": "HEX", "method": "DELETE"},
]


def _texts(*tables: dict[str, list[str]]) -> list[bytes]:
    return [
        text.encode("utf-8", "surrogatepass")[:4_000] for table in tables for texts in table.values() for text in texts[:20]
    ]


EXECUTION = [
    b'{"kind":"execution","origin":null,"place":{"agent":"a","execution":"e","task":"t"},"value":{}}',
    b'{"kind":"step","value":{"number":1}}\n{"execution":"e","kind":"end"}',
    b'{"kind":"receipt","value":{"kind":"opened"}}',
]

PEOPLE = [
    b'{"approves":false,"created_at":"2026-01-01T00:00:00Z","max_credits_month":null,"name":"Bea","person":"p",'
    b'"rights":["read"],"role":"viewer"}',
    b'{"content":{"a":[1]},"path":"user_memory/taste","person":"","user":"u"}',
]

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {"url": {}},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    },
}
_HEAD = b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: "


def _write_message(method: str, head: bytes, **params: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": _META, **params}}
    return _HEAD + method.encode() + head + b"\r\n\r\n" + json.dumps(message).encode()


MESSAGES = [
    _write_message("tools/list", b"", cursor="MWE="),
    _write_message("tools/call", b"\r\nMcp-Name: echo", name="echo", arguments={"text": "a"}),
    _write_message("tools/call", b"\r\nMcp-Name: =?base64?ZWNobw==?=", name="echo", arguments={}),
    _write_message("tools/call", b"\r\nMcp-Name: route\r\nMcp-Param-Region: eu", name="route", arguments={"region": "eu"}),
    _write_message("tools/call", b"\r\nMcp-Name: approve", name="approve", inputResponses={"a1": {}}, requestState="a.b"),
    _write_message("tools/call", b"\r\nMcp-Name: fail", name="fail"),
    _write_message("tasks/get", b"\r\nMcp-Name: t1", taskId="t1"),
    _write_message("subscriptions/listen", b"", notifications={"toolsListChanged": True, "taskIds": ["t1"]}),
    _write_message("server/discover", b""),
    b'\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}}',
    b'MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: a.b\r\n\r\n{"jsonrpc":"2.0","id":"a","method":"ping"}',
    b'MCP-Protocol-Version: 2025-11-25\r\n\r\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
]

_RESULTS: dict[str, dict[str, object]] = {
    "call": {"content": [{"type": "text", "text": "stranger"}, {"type": "image", "data": "QUJD", "mimeType": "image/png"}]},
    "list": {"tools": [{"name": "stranger", "inputSchema": {"type": "object"}}], "ttlMs": 5},
    "task": {"taskId": "a", "status": "completed", "result": {"content": [], "structuredContent": {"a": "stranger"}}},
    "discover": {"supportedVersions": ["2026-07-28"], "capabilities": {}, "instructions": "stranger"},
}
_NOTES = {
    "progress": {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
    "ping": {"jsonrpc": "2.0", "id": "stranger", "method": "ping"},
    "error": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "stranger"}},
}
_INPUT = {"a": {"method": "elicitation/create", "params": {"message": "stranger", "requestedSchema": {}}}}


def _write_answer(ask: str, message: object, *, old: bool = False, stream: bool = False, status: int = 200) -> bytes:
    kind, text = ("text/event-stream", "id: 7\ndata: %s\n\n") if stream else ("application/json", "%s")
    head = f"status: {status}\r\nask: {ask}\r\nrevision: {'old' if old else 'new'}\r\nsize: 9\r\ncontent-type: {kind}"
    return f"{head}\r\n\r\n{text % json.dumps(message)}".encode()


MCP_ANSWERS = [
    *(
        _write_answer(ask, {"jsonrpc": "2.0", "id": 1, "result": result}, old=old, stream=stream)
        for ask, result in _RESULTS.items()
        for old in (False, True)
        for stream in (False, True)
    ),
    *(_write_answer("call", note, old=old, stream=True) for note in _NOTES.values() for old in (False, True)),
    *(_write_answer("call", _NOTES["error"], status=status) for status in (200, 400, 401, 404, 500)),
    _write_answer(
        "call",
        {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required", "inputRequests": _INPUT, "requestState": "s"}},
    ),
]

SEEDS: dict[str, list[bytes]] = {
    "url": _texts(GRAMMAR, ALLOWED),
    "scanner": [write(VALUES["prefixed"]).encode("utf-8", "surrogatepass") for write in NOTATIONS.values()],
    "framer": [b"text/plain; charset=utf-8\n" + item for item in _texts(FRAMES, TURNS, TOKENS)],
    "reader": [bytes([step]) + answer for answer in ANSWERS for step in (0, 255)],
    "archive": [WHOLE, *EXECUTION, *PEOPLE, *(forged[:4_000] for forged, _ in (*FORGED.values(), *LINES.values()))],
    "mcp": MESSAGES,
    "mcp_answer": MCP_ANSWERS,
    "gate": [json.dumps(arguments).encode() + b"\r\n--answer--\r\n" + entry for arguments in ARGUMENTS for entry in ANSWERS],
}
