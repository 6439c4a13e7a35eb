"""The client understands problems and events, and takes a broken line of events up again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from ferryman.client import Client, Refused, Unreachable, parse

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
    """Events as they are written; where more is promised, the line breaks in the middle of one."""
    blocks = [f"id: {number}\nevent: {kind}\ndata: {json.dumps({'n': number})}\n\n" for number, kind in events]
    cut = f"id: {events[-1][0] + 1}\nevent: turn\nda" if promised else ""
    length = "content-length: 100000" if promised else "connection: close"
    return f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{length}\r\n\r\n: hello\n\n{''.join(blocks)}{cut}".encode()


async def test_a_broken_line_is_resumed_after_the_last_whole_event(served: Served) -> None:
    asked: list[str] = []

    def answer(request: str) -> bytes:
        asked.append(request.lower())
        if len(asked) == 1:
            return stream((1, "started"), (2, "turn"))
        return stream((3, "finished"), promised=False)

    client = await served(answer)
    assert [event.number async for event in client.events("exec_1")] == [1, 2, 3]
    assert "last-event-id" not in asked[0]
    assert "last-event-id: 2\r\n" in asked[1]


async def test_a_problem_names_its_fields(served: Served) -> None:
    problem = {
        "title": "Unprocessable",
        "status": 422,
        "detail": "not accepted",
        "errors": [{"field": "name", "message": "is long"}],
    }
    client = await served(lambda _: response("422 Unprocessable", "application/problem+json", json.dumps(problem)))
    with pytest.raises(Refused) as refused:
        await client.create_task({})
    assert (refused.value.status, refused.value.detail, refused.value.errors) == (422, "not accepted", (("name", "is long"),))


@pytest.mark.parametrize("body", ["<h1>no</h1>", "[]", '{"errors": 1, "detail": "x"}'])
async def test_an_error_that_is_no_problem_is_still_a_refusal(served: Served, body: str) -> None:
    client = await served(lambda _: response("502 Bad Gateway", "text/html", body))
    with pytest.raises(Refused, match="502"):
        await client.tasks()


async def test_nobody_there_is_said(served: Served) -> None:
    client = Client("http://127.0.0.1:1", "fm_key")
    async with client:
        with pytest.raises(Unreachable, match="nobody answers"):
            await client.tasks()


async def test_an_id_cannot_reach_another_route(served: Served) -> None:
    asked: list[str] = []

    def answer(request: str) -> bytes:
        asked.append(request.split(" ")[1])
        return response("404 Not Found", "application/problem+json", '{"title": "Not Found"}')

    for name in ("../executions", "..", "a?b", ""):
        client = await served(answer)
        with pytest.raises(Refused):
            await client.task(name)
    assert asked == ["/v1/tasks/..%2Fexecutions", "/v1/tasks/%00", "/v1/tasks/a%3Fb", "/v1/tasks/%00"]


async def test_comments_and_unknown_lines_are_passed_over() -> None:
    async def lines() -> AsyncIterator[str]:
        for line in (": keep", "", "retry: 5", "id: 7", "event: turn", 'data: {"a":', "data: 1}", "", "data: lost", ""):
            yield line

    assert [(event.number, event.kind, event.body) async for event in parse(lines())] == [(7, "turn", {"a": 1})]
