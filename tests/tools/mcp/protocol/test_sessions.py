"""Sessions of 2025-11-25: begun once, remembered for a while, begun again where they are lost, and never with a second call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.mcp_revisions import LEGACY
from ferryman.ports.gate import ResponseReader
from ferryman.tools.mcp.protocol import (
    AnswerLostError,
    ClientCapabilities,
    Completed,
    Elicitation,
    HttpMessage,
    McpClient,
    SessionCache,
    SessionLostError,
    read_descriptor,
)
from ferryman.tools.mcp.protocol.bounds import SESSION_FRESH_S, SESSION_S, SESSIONS_MAX
from ferryman.tools.mcp.protocol.sessions import ClientSession

from .peers import (
    BROKEN,
    JSON_HEADERS,
    STREAM_HEADERS,
    WrittenResponse,
    WrittenServer,
    write_event,
    write_json,
    write_result,
)

TOOL = read_descriptor({"name": "t", "inputSchema": {"type": "object"}})
OLD = {"protocolVersion": LEGACY[0], "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}], "tools": []}
BEGINNING = ["initialize", "notifications/initialized"]


class Clock:
    """Seconds that pass when a test says so, or somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class SessionServer(WrittenServer):
    """A server of 2025-11-25 that forgets the sessions in `ended`; `streams` are what calls and GETs are answered with."""

    def __init__(self, *streams: list[Any], **headers: str) -> None:
        super().__init__(self.respond)
        self.ended: set[str] = set()
        self.streams = list(streams)
        self.count = 0
        self.headers = headers

    def respond(self, request: HttpMessage) -> WrittenResponse:
        session = request.headers.get("mcp-session-id")
        method = None if request.body is None else request.body.get("method")
        if method == "initialize":
            self.count += 1
            headers = (*JSON_HEADERS, ("Mcp-Session-Id", self.headers.get("session", f"s{self.count}")))
            return WrittenResponse([write_json(write_result(request, OLD))], headers)
        if session is None or session in self.ended:
            return WrittenResponse([b"gone"], (("content-type", "text/plain"),), 404)
        if request.body is None or (method == "tools/call" and self.streams):
            parts = self.streams.pop(0)
            return WrittenResponse([part(request) if callable(part) else part for part in parts], STREAM_HEADERS)
        if "id" not in request.body or method is None:
            return WrittenResponse((), (), 202)
        return WrittenResponse([write_json(write_result(request, DONE))])


def build_client(server: Any, clock: Clock | None = None, cache: SessionCache | None = None, **how: Any) -> McpClient:
    clock = clock or Clock()
    sessions = cache or SessionCache(clock=clock)
    return McpClient(server, owner="o", revision=LEGACY[0], sessions=sessions, session_key="k", sleep=clock.sleep, **how)


async def test_a_session_is_begun_once_and_repeated() -> None:
    server = SessionServer()
    client = build_client(server)
    await client.list_tools()
    await client.call_tool(TOOL, {})
    assert server.methods == [*BEGINNING, "tools/list", "tools/call"]
    sessions = [request.headers.get("mcp-session-id") for request in server.messages]
    versions = {request.headers.get("mcp-protocol-version") for request in server.messages[1:]}
    assert (sessions, versions) == ([None, "s1", "s1", "s1"], {LEGACY[0]})


async def test_clients_of_one_key_share_a_session_and_its_ids() -> None:
    server, cache = SessionServer(), SessionCache()
    for _ in range(2):
        await build_client(server, cache=cache).list_tools()
    ids = [request.body["id"] for request in server.messages if request.body and "id" in request.body]
    assert (server.count, len(ids), len(set(ids))) == (1, 3, 3)


async def test_a_session_has_what_was_offered_when_it_was_begun() -> None:
    async def decide(_: Elicitation) -> Mapping[str, Any]:
        return {"action": "decline"}

    server, cache = SessionServer(), SessionCache()
    for capabilities in (ClientCapabilities(), *[ClientCapabilities(form=True, tasks=True)] * 2):
        await build_client(server, cache=cache, capabilities=capabilities, on_elicitation=decide).list_tools()
    bodies = [request.body for request in server.messages if request.body and request.body["method"] == "initialize"]
    assert [body["params"]["capabilities"] for body in bodies] == [{}, {"elicitation": {"form": {}}}]


async def test_a_lost_session_is_begun_again_for_what_has_no_effect() -> None:
    server = SessionServer()
    client = build_client(server)
    await client.list_tools()
    server.ended.add("s1")
    await client.list_tools()
    assert (server.methods[3:], server.count) == (["tools/list", *BEGINNING, "tools/list"], 2)


async def test_a_second_loss_is_a_failure() -> None:
    server = SessionServer()
    server.ended |= {"s1", "s2"}
    with pytest.raises(Exception, match="404"):
        await build_client(server).list_tools()
    assert server.count == 2


async def test_a_call_is_never_sent_twice_where_its_session_is_lost() -> None:
    server = SessionServer()
    client = build_client(server)
    await client.list_tools()
    server.ended.add("s1")
    with pytest.raises(SessionLostError):
        await client.call_tool(TOOL, {})
    assert server.methods.count("tools/call") == 1
    await client.call_tool(TOOL, {})
    assert server.count == 2


async def test_a_session_that_was_idle_is_asked_for_before_a_call() -> None:
    server, clock = SessionServer(), Clock()
    client = build_client(server, clock)
    await client.list_tools()
    server.ended.add("s1")
    clock.now += SESSION_FRESH_S
    assert isinstance(await client.call_tool(TOOL, {}), Completed)
    assert server.methods[3:] == ["ping", *BEGINNING, "ping", "tools/call"]


async def test_a_session_is_forgotten_after_its_time() -> None:
    server, clock = SessionServer(), Clock()
    client = build_client(server, clock)
    await client.list_tools()
    clock.now += SESSION_S
    await client.list_tools()
    assert server.count == 2


def test_the_least_used_session_makes_room() -> None:
    cache = SessionCache()
    for number in range(SESSIONS_MAX):
        cache.put(str(number), ClientSession(id="s", revision=LEGACY[0]))
    cache.put("0", ClientSession(id="s", revision=LEGACY[0]))
    cache.put("new", ClientSession(id="s", revision=LEGACY[0]))
    assert (cache.count, cache.find("1"), cache.find("0") is None) == (SESSIONS_MAX, None, False)


@pytest.mark.parametrize("session", ["a b", "", "é", "a\tb", "x" * 1_025])
async def test_a_session_that_no_header_can_have_is_none(session: str) -> None:
    server = SessionServer(session=session)
    with pytest.raises(Exception, match="404"):
        await build_client(server).list_tools()
    assert {request.headers.get("mcp-session-id") for request in server.messages} == {None}


def event(request: HttpMessage, mark: str | None = None) -> bytes:
    return write_event(write_result(request, DONE), id=mark)


def finish(server: SessionServer, mark: str | None = None) -> Any:
    """Return the event with the answer to the call that `server` was sent."""

    def write(_: HttpMessage) -> bytes:
        call = next(request for request in server.messages if request.body and request.body.get("method") == "tools/call")
        return event(call, mark)

    return write


PRIMING = b"id: e1\nretry: 250\ndata:\n\n"


@pytest.mark.parametrize("end", [(), (BROKEN,)], ids=["closed", "broken"])
async def test_a_stream_is_taken_up_where_it_ended(end: tuple[Any, ...]) -> None:
    server, clock = SessionServer(), Clock()
    server.streams = [[PRIMING, *end], [b"id: e2\ndata:\n\n", *end], [finish(server)]]
    outcome = await build_client(server, clock).call_tool(TOOL, {})
    assert isinstance(outcome, Completed)
    gets = [request for request in server.messages if request.body is None]
    assert [request.headers["last-event-id"] for request in gets] == ["e1", "e2"]
    assert ({request.headers["mcp-session-id"] for request in gets}, clock.waits) == ({"s1"}, [0.25, 0.25])
    assert server.methods.count("tools/call") == 1


async def test_a_stream_without_ids_is_lost() -> None:
    server = SessionServer([b": nothing\n\n"])
    with pytest.raises(AnswerLostError):
        await build_client(server).call_tool(TOOL, {})
    assert server.methods.count("tools/call") == 1


async def test_a_stream_that_breaks_without_ids_fails_as_its_transport_does() -> None:
    with pytest.raises(CallRefusedError, match="the connection broke"):
        await build_client(SessionServer([b": nothing\n\n", BROKEN])).call_tool(TOOL, {})


async def test_a_stream_is_taken_up_so_often_and_then_no_longer() -> None:
    server = SessionServer(*([PRIMING],) * 20)
    with pytest.raises(AnswerLostError, match="again and again"):
        await build_client(server).call_tool(TOOL, {})
    assert (server.methods.count("GET"), server.methods.count("tools/call")) == (8, 1)
    assert server.methods[-1] == "notifications/cancelled"


async def test_a_stream_is_not_taken_up_beyond_the_time_of_the_call() -> None:
    server, clock = SessionServer(*([b"id: e\nretry: 10000\ndata:\n\n"],) * 20), Clock()
    with pytest.raises(AnswerLostError):
        await build_client(server, clock).call_tool(TOOL, {})
    assert (clock.now, server.methods.count("GET")) == (30.0, 2)


async def test_what_a_stream_is_taken_up_with_is_no_other_answer() -> None:
    other = write_event({"jsonrpc": "2.0", "id": 99, "result": DONE})
    with pytest.raises(Exception, match="not this one"):
        await build_client(SessionServer([PRIMING], [other])).call_tool(TOOL, {})


REFUSALS: dict[str, Any] = {
    "a status": WrittenResponse((), (), 405),
    "a lost session": WrittenResponse((), (), 404),
    "a token that expired": WrittenResponse((), (), 401),
    "an error of the protocol": WrittenResponse([b'{"jsonrpc":"2.0","error":{"code":-32001,"message":""}}'], JSON_HEADERS, 404),
    "the gate": refusal.refuse_address("a.test"),
    "the time": refusal.report_timeout(1),
}


@pytest.mark.parametrize("kind", REFUSALS)
async def test_a_get_that_is_refused_loses_the_answer_of_a_call_that_was_sent(kind: str) -> None:
    server = SessionServer([PRIMING])
    respond, refused = server.write, REFUSALS[kind]

    def refuse(request: HttpMessage) -> WrittenResponse:
        if request.body is not None:
            return respond(request)
        if isinstance(refused, WrittenResponse):
            return refused
        raise CallRefusedError(refused)

    server.write = refuse
    with pytest.raises(AnswerLostError):
        await build_client(server).call_tool(TOOL, {})
    assert server.methods.count("tools/call") == 1


async def test_an_answer_to_the_server_that_is_not_sent_loses_that_of_the_call() -> None:
    server = SessionServer()
    server.streams = [[ask("ping"), finish(server)]]
    respond = server.write

    def refuse(request: HttpMessage) -> WrittenResponse:
        if request.body is not None and "method" not in request.body:
            raise CallRefusedError(refusal.refuse_leak("KEY"))
        return respond(request)

    server.write = refuse
    with pytest.raises(AnswerLostError):
        await build_client(server).call_tool(TOOL, {})


def ask(method: str, params: Mapping[str, Any] | None = None) -> bytes:
    return write_event({"jsonrpc": "2.0", "id": "q1", "method": method, "params": dict(params or {})})


async def answer_request(*requests: bytes, **how: Any) -> list[Any]:
    """Return what a client answers the requests of a server with that come before its answer."""
    server = SessionServer()
    server.streams = [[b"".join(requests), finish(server)]]
    await build_client(server, **how).call_tool(TOOL, {})
    return [request.body for request in server.messages if request.body and "method" not in request.body]


async def test_a_ping_is_answered() -> None:
    assert await answer_request(ask("ping")) == [{"jsonrpc": "2.0", "id": "q1", "result": {}}]


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "elicitation/create", "tools/list"])
async def test_what_is_not_offered_is_declined(method: str) -> None:
    (answer,) = await answer_request(ask(method, {"message": "x", "requestedSchema": {}}))
    assert (answer["id"], answer["error"]["code"]) == ("q1", -32601)


FORM = {"message": "Which?", "requestedSchema": {"type": "object"}}


async def test_a_question_is_handed_to_the_caller() -> None:
    questions: list[Elicitation] = []

    async def decide(elicitation: Elicitation) -> Mapping[str, Any]:
        questions.append(elicitation)
        return {"action": "decline"}

    how = {"capabilities": ClientCapabilities(form=True), "on_elicitation": decide}
    (answer,) = await answer_request(ask("elicitation/create", FORM), **how)
    assert (answer["result"], questions[0].message) == ({"action": "decline"}, "Which?")
    (answer,) = await answer_request(ask("elicitation/create", {"mode": "url", "message": "x", "url": "https://a"}), **how)
    assert (answer["error"]["code"], len(questions)) == (-32602, 1)


async def test_questions_are_not_offered_where_nobody_answers_them() -> None:
    server = SessionServer()
    await build_client(server, capabilities=ClientCapabilities(form=True, url=True)).list_tools()
    assert server.messages[0].body["params"]["capabilities"] == {}  # type: ignore[index]


async def test_too_many_requests_are_refused() -> None:
    with pytest.raises(Exception, match="more than 16 requests"):
        await answer_request(ask("ping") * 17)


@pytest.mark.parametrize("mark", [True, None, 1.5, [], {}])
async def test_a_request_with_a_strange_id_is_refused(mark: Any) -> None:
    asking = write_event({"jsonrpc": "2.0", "id": mark, "method": "ping"})
    with pytest.raises(Exception, match="an id that is"):
        await answer_request(asking)


class Hanging(SessionServer):
    """A server that does not answer a call; its transport gives up where `refused` is set."""

    def __init__(self, refused: CallRefusedError | None = None) -> None:
        super().__init__()
        self.refused = refused
        self.called = asyncio.Event()

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        if message.has_effect:
            self.messages.append(message)
            self.called.set()
            if self.refused is not None:
                raise self.refused
            await asyncio.Event().wait()
        return await super().exchange(message, reader)


def list_cancelled(server: SessionServer) -> list[Any]:
    call = next(request for request in server.messages if request.has_effect)
    params = [request.body["params"] for request in server.messages if request.body and "cancelled" in str(request.body)]
    return [call.body["id"] == sent["requestId"] for sent in params]  # type: ignore[index]


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server() -> None:
    server = Hanging(CallRefusedError(refusal.report_timeout(30)))
    with pytest.raises(CallRefusedError, match="timed out"):
        await build_client(server).call_tool(TOOL, {})
    assert list_cancelled(server) == [True]


async def test_a_call_that_is_cancelled_here_is_cancelled_at_the_server() -> None:
    server = Hanging()
    task = asyncio.ensure_future(build_client(server).call_tool(TOOL, {}))
    await server.called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list_cancelled(server) == [True]


async def test_a_call_that_was_not_sent_is_not_cancelled() -> None:
    server = Hanging(CallRefusedError(refusal.refuse_leak("KEY")))
    with pytest.raises(CallRefusedError):
        await build_client(server).call_tool(TOOL, {})
    assert list_cancelled(server) == []
