"""The client understands problems and events, and takes a broken line of events up again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from ferryman.client import ApiRefusedError, ApiUnreachableError, Client, parse
from ferryman.domain.owners.idempotency import parse_key

Answer = Callable[[str], bytes]
Served = Callable[[Answer], Awaitable[Client]]


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """A client of a service that answers each request (its text) with the bytes it is told to, and hangs up."""
    servers: list[asyncio.Server] = []
    clients: list[Client] = []

    async def serve(answer: Answer) -> Client:
        async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(request.decode()))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(one, "127.0.0.1")
        servers.append(server)
        port = server.sockets[0].getsockname()[1]
        clients.append(Client(f"http://127.0.0.1:{port}", "fm_key"))
        return clients[-1]

    yield serve
    for client in clients:
        await client.__aexit__()
    for server in servers:
        server.close()
        await server.wait_closed()


def response(status: str, kind: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()


def stream(*events: tuple[int, str], promised: bool = True) -> bytes:
    """Yield events as they are written; where more is promised, the line breaks in the middle of one."""
    blocks = [f"id: {number}\nevent: {kind}\ndata: {json.dumps({'n': number})}\n\n" for number, kind in events]
    cut = f"id: {events[-1][0] + 1}\nevent: turn\nda" if promised else ""
    length = "content-length: 100000" if promised else "connection: close"
    return f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{length}\r\n\r\n: hello\n\n{''.join(blocks)}{cut}".encode()


async def test_a_broken_line_is_resumed_after_the_last_whole_event(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request.lower())
        if len(received) == 1:
            return stream((1, "started"), (2, "turn"))
        return stream((3, "finished"), promised=False)

    client = await served(answer)
    assert [event.number async for event in client.stream_events("exec_1")] == [1, 2, 3]
    assert "last-event-id" not in received[0]
    assert "last-event-id: 2\r\n" in received[1]


async def test_a_problem_names_its_fields(served: Served) -> None:
    problem = {
        "title": "Unprocessable",
        "status": 422,
        "detail": "not accepted",
        "errors": [{"field": "name", "message": "is long"}],
    }
    client = await served(lambda _: response("422 Unprocessable", "application/problem+json", json.dumps(problem)))
    with pytest.raises(ApiRefusedError) as refused:
        await client.create_task({})
    assert (refused.value.status, refused.value.detail, refused.value.errors) == (422, "not accepted", (("name", "is long"),))


@pytest.mark.parametrize("body", ["<h1>no</h1>", "[]", '{"errors": 1, "detail": "x"}'])
async def test_an_error_that_is_no_problem_is_still_a_refusal(served: Served, body: str) -> None:
    client = await served(lambda _: response("502 Bad Gateway", "text/html", body))
    with pytest.raises(ApiRefusedError, match="502"):
        await client.list_tasks()


async def test_nobody_there_is_said(served: Served) -> None:
    client = Client("http://127.0.0.1:1", "fm_key")
    async with client:
        with pytest.raises(ApiUnreachableError, match="nobody answers"):
            await client.list_tasks()


async def test_an_id_cannot_reach_another_route(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request.split(" ")[1])
        return response("404 Not Found", "application/problem+json", '{"title": "Not Found"}')

    for name in ("../executions", "..", "a?b", ""):
        client = await served(answer)
        with pytest.raises(ApiRefusedError):
            await client.get_task(name)
    assert received == ["/v1/tasks/..%2Fexecutions", "/v1/tasks/%00", "/v1/tasks/a%3Fb", "/v1/tasks/%00"]


SPENT = 'event: progress\ndata: {"credits_used": "1"}\n\n'


async def test_what_was_spent_so_far_is_told_to_those_who_ask_for_it(served: Served) -> None:
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    events = f"id: 1\nevent: started\ndata: {{}}\n\n{SPENT}id: 2\nevent: finished\ndata: {{}}\n\n"
    for progress, kinds in ((False, ["started", "finished"]), (True, ["started", "progress", "finished"])):
        client = await served(lambda _: (head + events).encode())
        assert [event.kind async for event in client.stream_events("exec_1", progress=progress)] == kinds


async def test_comments_and_unknown_lines_are_passed_over() -> None:
    async def lines() -> AsyncIterator[str]:
        for line in (": keep", "", "retry: 5", "id: 7", "event: turn", 'data: {"a":', "data: 1}", "", "data: lost", ""):
            yield line

    assert [(event.number, event.kind, event.body) async for event in parse(lines())] == [(7, "turn", {"a": 1})]


STARTED = response("202 Accepted", "application/json", '{"execution_id": "exec_1"}')
BUSY = response("409 Conflict\r\nretry-after: 2", "application/problem+json", '{"title": "Conflict", "detail": "is under way"}')


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ferryman.client.RETRY_WAITS_S", (0.0,) * 5)


async def keys_of(served: Served, *answers: bytes) -> tuple[list[str], object]:
    """Return the idempotency keys that came, and what the start of an execution came to, when these are the answers."""
    responses, keys = list(answers), list[str]()

    def answer(request: str) -> bytes:
        keys.extend(line.partition(": ")[2] for line in request.splitlines() if line.lower().startswith("idempotency-key"))
        return responses.pop(0) if len(responses) > 1 else responses[0]

    client = await served(answer)
    try:
        return keys, (await client.start_execution("task_1", "hello"))["execution_id"]
    except (ApiRefusedError, ApiUnreachableError) as error:
        return keys, error


@pytest.mark.usefixtures("_at_once")
async def test_a_post_whose_answer_is_lost_is_sent_again_under_the_same_key(served: Served) -> None:
    keys, came = await keys_of(served, b"", b"HTTP/1.1 202 Acc", BUSY, STARTED)
    assert (len(keys), len(set(keys)), came) == (4, 1, "exec_1")
    assert parse_key(keys[0])


@pytest.mark.usefixtures("_at_once")
async def test_each_post_has_a_key_of_its_own(served: Served) -> None:
    keys = [(await keys_of(served, STARTED))[0] for _ in range(2)]
    assert [len(key) for key in keys] == [1, 1]
    assert keys[0] != keys[1]


@pytest.mark.usefixtures("_at_once")
async def test_a_post_is_given_up_in_the_end(served: Served) -> None:
    keys, came = await keys_of(served, b"")
    assert (len(keys), len(set(keys)), type(came)) == (6, 1, ApiUnreachableError)


@pytest.mark.usefixtures("_at_once")
async def test_what_was_answered_is_not_sent_again(served: Served) -> None:
    keys, came = await keys_of(served, BUSY)
    assert (len(keys), type(came)) == (1, ApiRefusedError)


async def test_where_nobody_was_reached_nothing_is_tried_again() -> None:
    async with Client("http://127.0.0.1:9", "fm_key") as client:
        with pytest.raises(ApiUnreachableError):
            await client.start_execution("task_1")


@pytest.mark.usefixtures("_at_once")
async def test_a_get_has_no_key_and_is_sent_once(served: Served) -> None:
    requests_before: list[str] = []
    client = await served(lambda request: requests_before.append(request) or b"")  # type: ignore[func-returns-value]
    with pytest.raises(ApiUnreachableError):
        await client.list_tasks()
    assert (len(requests_before), "idempotency-key" in requests_before[0].lower()) == (1, False)
