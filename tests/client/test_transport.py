"""Both clients, over real sockets: typed errors for problems, broken streams resumed, lists turned page by page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ferryman import client as package
from ferryman.client import ApiError, ApiRefusedError, ApiUnreachableError
from ferryman.client.routes import executions

from .served import Served, answer_json, connect, kind, response, served

__all__ = ["kind", "served"]


def stream(*events: tuple[int, str], promised: bool = True) -> bytes:
    """Return events as they are written; where more is promised, the line breaks in the middle of one."""
    blocks = [f"id: {number}\nevent: {kind}\ndata: {json.dumps({'n': number})}\n\n" for number, kind in events]
    cut = f"id: {events[-1][0] + 1}\nevent: turn\nda" if promised else ""
    length = "content-length: 100000" if promised else "connection: close"
    return f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{length}\r\n\r\n: hello\n\n{''.join(blocks)}{cut}".encode()


async def test_a_broken_stream_is_resumed_after_the_last_whole_event(served: Served) -> None:
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


async def test_a_watch_goes_on_after_the_event_that_is_named(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request.lower())
        return stream((8, "finished"), promised=False)

    client = await served(answer)
    assert [event.number async for event in client.stream_events("exec_1", after=7)] == [8]
    assert "last-event-id: 7\r\n" in received[0]


PROGRESS = 'event: progress\ndata: {"credits_used": "1"}\n\n'


@pytest.mark.parametrize(("progress", "kinds"), [(False, ["started", "finished"]), (True, ["started", "progress", "finished"])])
async def test_what_was_spent_so_far_is_told_to_those_who_ask_for_it(served: Served, progress: bool, kinds: list[str]) -> None:
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    events = f"id: 1\nevent: started\ndata: {{}}\n\n{PROGRESS}id: 2\nevent: finished\ndata: {{}}\n\n"
    client = await served(lambda _: (head + events).encode())
    assert [event.kind async for event in client.stream_events("exec_1", progress=progress)] == kinds


async def test_there_are_no_events_after_the_last(served: Served) -> None:
    client = await served(lambda _: b"HTTP/1.1 204 No Content\r\n\r\n")
    assert [event async for event in client.stream_events("exec_1", after=9)] == []


async def test_a_watch_of_what_is_not_there_is_refused_at_once(served: Served) -> None:
    client = await served(
        lambda _: answer_json({"title": "Not Found", "detail": "there is no such execution"}, "404 Not Found")
    )
    with pytest.raises(package.ApiNotFoundError, match="no such execution"):
        _ = [event async for event in client.stream_events("exec_1")]


async def test_a_run_starts_watches_and_returns_the_record(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(" ".join(request.split(" ")[:2]))
        if "/events" in request:
            return stream((1, "finished"), promised=False)
        return answer_json({"execution_id": "exec_1", "status": "completed"})

    client = await served(answer)
    assert (await client.run_task("task_1", "hello"))["status"] == "completed"
    assert received == ["POST /v1/tasks/task_1/executions", "GET /v1/executions/exec_1/events", "GET /v1/executions/exec_1"]


async def test_all_pages_of_a_list_are_turned(served: Served) -> None:
    received: list[str] = []
    pages: Iterator[Any] = iter([{"tasks": [1, 2], "next": "a&b"}, {"tasks": [], "next": "c"}, {"tasks": [3], "next": None}])

    def answer(request: str) -> bytes:
        received.append(request.split(" ")[1])
        return answer_json(next(pages))

    client = await served(answer)
    assert [task async for task in client.iterate_tasks(limit=2)] == [1, 2, 3]
    assert received == ["/v1/tasks?limit=2", "/v1/tasks?limit=2&cursor=a%26b", "/v1/tasks?limit=2&cursor=c"]


async def test_receipts_of_all_pages_become_one_document(served: Served) -> None:
    pages = iter([{"entries": [1, 2], "keys": {"1": "a"}, "next": "c"}, {"entries": [3], "keys": {"1": "a"}, "next": None}])
    received = []

    def answer(request: str) -> bytes:
        received.append(request.split(" ")[1])
        return answer_json(next(pages))

    client = await served(answer)
    assert await client.get_receipts("e") == {"entries": [1, 2, 3], "keys": {"1": "a"}}
    path = "/v1/executions/e/receipts?limit=100"
    assert received == [path, f"{path}&cursor=c"]


def test_an_execution_is_started_with_input_conversation_and_labels() -> None:
    assert executions.start_execution("t", "Paris", conversation="talk", labels={"order": "42"}).body == {
        "input": "Paris",
        "conversation": "talk",
        "labels": {"order": "42"},
    }
    assert executions.start_execution("t").body == {}


async def test_a_page_is_a_list_with_the_cursor_of_the_next(served: Served) -> None:
    client = await served(lambda _: answer_json({"executions": [{"execution_id": "exec_1"}], "next": "abc"}))
    page = await client.list_executions(limit=1)
    assert (page, page.next) == ([{"execution_id": "exec_1"}], "abc")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *((status, package.ApiInvalidError) for status in (400, 413, 415, 422)),
        (401, package.ApiUnauthorizedError),
        (403, package.ApiForbiddenError),
        (404, package.ApiNotFoundError),
        (409, package.ApiConflictError),
        (429, package.ApiRateLimitedError),
        *((status, package.ApiFailedError) for status in (500, 503)),
        (418, ApiRefusedError),
    ],
)
async def test_each_status_has_its_error(served: Served, status: int, error: type[ApiError]) -> None:
    client = await served(lambda _: answer_json({"title": "No", "status": status}, f"{status} No"))
    with pytest.raises(ApiRefusedError) as refused:
        await client.get_me()
    assert (type(refused.value), refused.value.status) == (error, status)


async def test_an_error_has_the_fields_of_the_problem(served: Served) -> None:
    problem = {
        "type": "https://errors.example/fields",
        "title": "Unprocessable",
        "status": 422,
        "detail": "not accepted",
        "errors": [{"field": "name", "message": "is long"}],
    }
    client = await served(lambda _: response("422 No\r\nretry-after: 7", "application/problem+json", json.dumps(problem)))
    with pytest.raises(package.ApiInvalidError) as refused:
        await client.create_task({})
    error = refused.value
    assert (error.type, error.title, error.detail, error.after_s) == (
        *[problem[name] for name in ("type", "title", "detail")],
        7,
    )
    assert (error.errors[0].field, error.errors[0].message) == ("name", "is long")
    assert str(error) == "not accepted; name: is long"


@pytest.mark.parametrize("body", ["<h1>no</h1>", "[]", '{"errors": 1, "detail": "x"}', "[" * 100_000])
async def test_an_error_that_is_no_problem_is_still_a_refusal(served: Served, body: str) -> None:
    client = await served(lambda _: response("502 Bad Gateway", "text/html", body))
    with pytest.raises(ApiRefusedError, match="502"):
        await client.list_tasks()


@pytest.mark.parametrize("body", ["<h1>hello</h1>", "[" * 100_000])
async def test_an_answer_that_is_no_json_is_of_another_service(served: Served, body: str) -> None:
    client = await served(lambda _: response("200 OK", "text/html", body))
    with pytest.raises(ApiRefusedError, match="is this the URL of a Ferryman API"):
        await client.list_tasks()


async def test_an_answer_that_cannot_be_unpacked_was_not_received(served: Served) -> None:
    client = await served(lambda _: b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope")
    with pytest.raises(ApiUnreachableError):
        await client.list_tasks()


async def test_nobody_there_is_said(kind: str) -> None:
    client = connect(kind, "http://127.0.0.1:1")
    with pytest.raises(ApiUnreachableError, match="nobody answers"):
        await client.list_tasks()
    await client.close()


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
