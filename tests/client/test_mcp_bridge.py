"""The bridge from stdin and stdout to /mcp: what goes out for what comes in, with a service that answers as a test says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ferryman.client import mcp_bridge
from ferryman.client.mcp_bridge import McpBridge
from ferryman.client.mcp_headers import encode_value
from tests.serve import serve_app

VERSION = "2026-07-28"
KEY = "fm_" + "k" * 43


def ask(number: object, method: str, **params: Any) -> dict[str, Any]:
    """Return a request of 2026-07-28."""
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}


def answer(number: object, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


@dataclass
class Service:
    """A service at /mcp: what it received, and what it answers by method."""

    received: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    has_gone: threading.Event = field(default_factory=threading.Event)

    async def respond(self, request: Request) -> Response:
        message = await request.json()
        self.received.append((dict(request.headers), message))
        response = self.answers.get(message.get("method"), answer(message.get("id"), ok=True))
        if isinstance(response, Response):
            return response
        if isinstance(response, list):
            return StreamingResponse(self._stream(response), media_type="text/event-stream")
        return JSONResponse(response)

    async def _stream(self, events: list[Any]) -> AsyncIterator[bytes]:
        try:
            for event in events:
                if event is None:
                    await asyncio.Event().wait()
                yield (
                    event
                    if isinstance(event, bytes)
                    else b": hello\r\n\r\nevent: message\ndata: %b\n\n" % json.dumps(event).encode()
                )
        finally:
            self.has_gone.set()


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def url(service: Service) -> Iterator[str]:
    app = Starlette(routes=[Route("/mcp", service.respond, methods=["POST"])])
    with serve_app(app, timeout_graceful_shutdown=1) as served:
        yield served


class Pipe:
    """The two ends of a client: `say` writes a line, and `lines` are those that have come back."""

    def __init__(self, url: str, **options: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._inbox = asyncio.Queue[bytes | None]()
        self.bridge = McpBridge(url, KEY, self._write, workspace="", **options)
        self.task = asyncio.create_task(self.bridge.run(self._read()))

    def _write(self, line: str) -> None:
        assert "\n" not in line
        self.lines.append(json.loads(line))
        self._news.set()

    async def _read(self) -> AsyncIterator[bytes]:
        while (line := await self._inbox.get()) is not None:
            yield line

    def say(self, message: Any) -> None:
        self._inbox.put_nowait(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    async def wait_for(self, count: int) -> list[dict[str, Any]]:
        while len(self.lines) < count:
            self._news.clear()
            await self._news.wait()
        return self.lines

    async def end(self) -> list[dict[str, Any]]:
        """Close the client's end, and return all that came."""
        self._inbox.put_nowait(None)
        await self.task
        return self.lines


async def test_a_request_goes_out_with_its_headers_and_comes_back_as_a_line(url: str, service: Service) -> None:
    pipe = Pipe(url, agent="agent_1")
    pipe.say(ask(1, "tools/call", name="look up é", arguments={}))
    assert await pipe.end() == [answer(1, ok=True)]
    ((headers, message),) = service.received
    assert (headers["authorization"], headers["mcp-protocol-version"]) == (f"Bearer {KEY}", VERSION)
    assert (headers["mcp-method"], headers["mcp-name"]) == ("tools/call", encode_value("look up é"))
    assert headers["accept"] == "application/json, text/event-stream"
    assert message == ask(1, "tools/call", name="look up é", arguments={})


async def test_each_event_of_a_stream_becomes_a_line(url: str, service: Service) -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1, "note": "a\u2028b\u0085"}}
    service.answers["tools/call"] = [progress, answer("x", ok=True)]
    pipe = Pipe(url)
    pipe.say(ask("x", "tools/call", name="a"))
    assert await pipe.end() == [progress, answer("x", ok=True)]


async def test_a_cancelled_request_is_left_and_not_answered(url: str, service: Service) -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    service.answers["tools/call"] = [progress, None]
    pipe = Pipe(url)
    pipe.say(ask(1, "tools/call", name="a"))
    await pipe.wait_for(1)
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION}
    pipe.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": meta}})
    pipe.say(ask(2, "ping"))
    assert await pipe.end() == [progress, answer(2, ok=True)]
    assert await asyncio.to_thread(service.has_gone.wait, 10)
    assert [message["method"] for _, message in service.received] == ["tools/call", "ping"]


async def test_a_session_of_2025_is_repeated_and_is_told_of_a_cancellation(url: str, service: Service) -> None:
    begun = answer(0, protocolVersion="2025-11-25", capabilities={})
    service.answers["initialize"] = JSONResponse(begun, headers={"Mcp-Session-Id": "session-1"})
    service.answers["notifications/initialized"] = Response(status_code=202)
    service.answers["notifications/cancelled"] = Response(status_code=202)
    pipe = Pipe(url)
    pipe.say({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
    pipe.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    pipe.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    pipe.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert [line["id"] for line in await pipe.end()] == [0, 1]
    first, *others = [headers for headers, _ in service.received]
    assert "mcp-session-id" not in first
    assert {(headers["mcp-session-id"], headers["mcp-protocol-version"]) for headers in others} == {("session-1", "2025-11-25")}
    assert len(others) == 3


async def test_an_answer_of_the_client_to_the_service_goes_out_and_nothing_comes_back(url: str, service: Service) -> None:
    service.answers[None] = Response(status_code=202)  # type: ignore[index] # an answer has no method
    pipe = Pipe(url)
    pipe.say(answer(5, action="accept"))
    assert await pipe.end() == []
    assert service.received[0][1] == answer(5, action="accept")


async def test_the_arguments_that_a_tool_annotates_are_repeated_in_headers(url: str, service: Service) -> None:
    place = {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}
    schema = {"type": "object", "properties": {"place": place, "count": {"type": "integer", "x-mcp-header": "Count"}}}
    service.answers["tools/list"] = answer(1, tools=[{"name": "a", "inputSchema": schema}])
    pipe = Pipe(url)
    pipe.say(ask(1, "tools/list"))
    await pipe.wait_for(1)
    pipe.say(ask(2, "tools/call", name="a", arguments={"place": {"city": "Köln"}, "count": 3}))
    await pipe.end()
    headers = service.received[1][0]
    assert (headers["mcp-param-city"], headers["mcp-param-count"]) == (encode_value("Köln"), "3")


@pytest.mark.parametrize(
    "line", [b"{", b"[1]\n", b'"x"\n', b"\xff\n", b"[" * 100_000], ids=["half", "list", "text", "bytes", "deep"]
)
async def test_what_is_no_message_is_answered_as_such(url: str, service: Service, line: bytes) -> None:
    pipe = Pipe(url)
    pipe.say(line)
    (refused,) = await pipe.end()
    assert (refused["id"], refused["error"]["code"], service.received) == (None, -32700, [])


async def test_a_line_that_is_too_long_is_answered_as_no_message(
    url: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_bridge, "LINE_BYTES_MAX", 100)
    pipe = Pipe(url)
    pipe.say(ask(1, "tools/list", cursor="a" * 100))
    assert (await pipe.end())[0]["error"]["code"] == -32700


@pytest.mark.parametrize(
    "response",
    [
        Response("<html>", status_code=502, media_type="text/html"),
        Response(status_code=202),
        JSONResponse(["a"]),
        Response(b"[" * 100_000, media_type="application/json"),
    ],
    ids=["page", "nothing", "list", "deep"],
)
async def test_an_answer_that_is_no_message_becomes_an_error_of_its_request(
    url: str, service: Service, response: Response
) -> None:
    service.answers["tools/list"] = response
    pipe = Pipe(url)
    pipe.say(ask(3, "tools/list"))
    (refused,) = await pipe.end()
    assert (refused["id"], refused["error"]["code"]) == (3, -32603)


async def test_an_error_without_an_id_is_that_of_its_request(url: str, service: Service) -> None:
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": 401, "message": "an API key is required"}}
    service.answers["tools/list"] = JSONResponse(refused, 401)
    pipe = Pipe(url)
    pipe.say(ask(4, "tools/list"))
    assert await pipe.end() == [{**refused, "id": 4}]


async def test_a_service_that_is_not_there_is_an_error_that_names_it_without_the_key() -> None:
    pipe = Pipe("http://127.0.0.1:9")
    pipe.say(ask(1, "tools/list"))
    (refused,) = await pipe.end()
    assert "http://127.0.0.1:9" in refused["error"]["message"]
    assert KEY not in json.dumps(refused)


async def test_what_is_under_way_has_some_seconds_when_the_client_leaves(
    url: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_bridge, "GRACE_S", 0.1)
    service.answers["subscriptions/listen"] = [{"jsonrpc": "2.0", "method": "notifications/x"}, None]
    pipe = Pipe(url)
    pipe.say(ask(1, "subscriptions/listen"))
    await pipe.wait_for(1)
    assert len(await pipe.end()) == 1
    assert await asyncio.to_thread(service.has_gone.wait, 10)


def test_a_value_is_written_as_it_is_or_in_base64() -> None:
    assert encode_value("http_get") == "http_get"
    for value in (" a", "a ", "é", "a\r\nb: c", "=?base64?x?=", ""):
        assert encode_value(value).startswith("=?base64?")
        httpx.Headers({"Mcp-Name": encode_value(value)})
