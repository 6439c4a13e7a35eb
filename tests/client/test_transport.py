"""Both clients, over real sockets: typed errors for problems, broken streams resumed, lost answers asked for again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import httpx
import pytest

from ferryman import client as package
from ferryman.client import ApiError, ApiRefusedError, ApiUnreachableError, AsyncClient, Client
from ferryman.client.attempts import READ_REPEATS, RETRY_WAITS_S, Attempts
from ferryman.client.routes import executions, imports, people
from ferryman.domain.owners.idempotency import parse_key
from ferryman.serving.keys import is_secret

Answer = Callable[[str], bytes]
AT_ONCE = (0.0,) * 5


class Blocking:
    """The blocking client, called as the other one is: each method runs in a thread, to its end."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if name.startswith(("stream_", "iterate_")):
                return self._iterate(lambda: list(method(*args, **kwargs)))
            return asyncio.to_thread(method, *args, **kwargs)

        return call

    async def _iterate(self, collect: Callable[[], list[Any]]) -> AsyncIterator[Any]:
        for item in await asyncio.to_thread(collect):
            yield item


def connect(kind: str, url: str) -> Any:
    if kind == "AsyncClient":
        return AsyncClient(url, "fm_key", retry_waits_s=AT_ONCE)
    return Blocking(Client(url, "fm_key", retry_waits_s=AT_ONCE))


Served = Callable[[Answer], Awaitable[Any]]


@pytest.fixture(params=["Client", "AsyncClient"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def served(kind: str) -> AsyncIterator[Served]:
    """A client of a service that answers each request (its text) with the bytes it is told to, and hangs up."""
    servers: list[asyncio.Server] = []
    clients: list[Any] = []

    async def serve(answer: Answer) -> Any:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(request.decode()))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1")
        servers.append(server)
        clients.append(connect(kind, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        return clients[-1]

    yield serve
    for client in clients:
        await client.close()
    for server in servers:
        server.close()
        await server.wait_closed()


def response(status: str, kind: str, body: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"{head}\r\n\r\n{body}".encode()


def answer_json(value: Any, status: str = "200 OK") -> bytes:
    return response(status, "application/json", json.dumps(value))


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


STARTED = answer_json({"execution_id": "exec_1"}, "202 Accepted")
JOINED = answer_json({"key": "fm_1"}, "201 Created")
BUSY = response("409 Conflict\r\nretry-after: 2", "application/problem+json", '{"title": "Conflict", "detail": "is under way"}')


async def start(served: Served, *answers: bytes, **options: Any) -> tuple[list[str], object]:
    """Return the idempotency keys that came, and what the start of an execution came to, when these are the answers."""
    responses, keys = list(answers), list[str]()

    def answer(request: str) -> bytes:
        keys.extend(line.partition(": ")[2] for line in request.splitlines() if line.lower().startswith("idempotency-key"))
        return responses.pop(0) if len(responses) > 1 else responses[0]

    client = await served(answer)
    try:
        return keys, (await client.start_execution("task_1", "hello", **options))["execution_id"]
    except ApiError as error:
        return keys, error


async def test_a_post_whose_answer_is_lost_is_sent_again_under_the_same_key(served: Served) -> None:
    keys, outcome = await start(served, b"", b"HTTP/1.1 202 Acc", BUSY, STARTED)
    assert (len(keys), len(set(keys)), outcome) == (4, 1, "exec_1")
    assert parse_key(keys[0])


async def test_a_join_whose_answer_is_lost_is_sent_again_with_the_same_secret(served: Served) -> None:
    paths: list[str] = []

    def answer(request: str) -> bytes:
        paths.append(request.partition("\r\n")[0])
        return b"" if len(paths) == 1 else JOINED

    client = await served(answer)
    assert (await client.join_workspace("fi_token"))["key"] == "fm_1"
    assert paths == ["POST /v1/join HTTP/1.1"] * 2


@pytest.mark.parametrize("name", ["workspace", "agent", "member"])
async def test_a_deletion_whose_answer_is_lost_is_asked_for_again(served: Served, name: str) -> None:
    paths: list[str] = []

    def answer(request: str) -> bytes:
        paths.append(request.partition("?")[0].partition(" HTTP")[0])
        return b"" if len(paths) == 1 else answer_json({"job_id": "job_1"}, "202 Accepted")

    client = await served(answer)
    assert (await getattr(client, f"delete_{name}")("x_1"))["job_id"] == "job_1"
    assert paths == [f"DELETE /v1/{name}s/x_1"] * 2


def test_each_join_has_a_secret_of_its_own_unless_it_is_given() -> None:
    bodies = [people.join_workspace("fi_token", secret=secret).body for secret in (None, None, "kept")]
    secrets = [body["secret"] for body in bodies if body is not None]
    assert is_secret(secrets[0])
    assert (secrets[0] != secrets[1], secrets[2]) == (True, "kept")


async def test_each_post_has_a_key_of_its_own(served: Served) -> None:
    keys = [(await start(served, STARTED))[0] for _ in range(2)]
    assert [len(key) for key in keys] == [1, 1]
    assert keys[0] != keys[1]


async def test_a_program_may_bring_its_own_key(served: Served) -> None:
    keys, _ = await start(served, STARTED, key="order 17")
    assert [parse_key(key) for key in keys] == ["order 17"]


@pytest.mark.parametrize("key", ["", 'a"b', "a\\b", "ä", "a\nb", "x" * 256])
async def test_a_key_that_no_header_can_hold_is_not_sent(served: Served, key: str) -> None:
    with pytest.raises(ValueError, match="1 to 255 printable ASCII"):
        await start(served, STARTED, key=key)


async def test_a_post_is_given_up_in_the_end(served: Served) -> None:
    keys, outcome = await start(served, b"")
    assert (len(keys), len(set(keys)), type(outcome)) == (6, 1, ApiUnreachableError)


async def test_what_was_answered_is_not_sent_again(served: Served) -> None:
    keys, outcome = await start(served, BUSY)
    assert (len(keys), type(outcome)) == (1, package.ApiConflictError)


async def test_where_nobody_was_reached_nothing_is_tried_again(kind: str) -> None:
    client = connect(kind, "http://127.0.0.1:9")
    with pytest.raises(ApiUnreachableError):
        await client.start_execution("task_1")
    await client.close()


async def ask(served: Served, name: str, *arguments: Any, answers: list[bytes]) -> tuple[list[str], object]:
    """Return the requests that came, and what a method came to, when these are the answers, the last one from then on."""
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request)
        return answers[min(len(received), len(answers)) - 1]

    client = await served(answer)
    try:
        return received, await getattr(client, name)(*arguments)
    except ApiError as error:
        return received, error


async def test_a_read_whose_connection_was_closed_is_sent_again_without_a_key(served: Served) -> None:
    received, outcome = await ask(served, "get_me", answers=[b"", b"HTTP/1.1 20", answer_json({"owner": "ann"})])
    assert outcome == {"owner": "ann"}
    assert len(received) == 3
    assert "idempotency-key" not in "".join(received).lower()


async def test_a_read_is_given_up_in_the_end_and_not_called_unanswered_by_anybody(served: Served) -> None:
    received, outcome = await ask(served, "list_tasks", answers=[b""])
    assert (len(received), type(outcome)) == (1 + READ_REPEATS, ApiUnreachableError)
    assert str(outcome).startswith("no answer came from http://127.0.0.1:")


async def test_a_read_that_is_refused_after_a_loss_is_not_sent_again(served: Served) -> None:
    received, outcome = await ask(served, "list_tasks", answers=[b"", BUSY])
    assert (len(received), type(outcome)) == (2, package.ApiConflictError)


FILE = ("ws_1", 3, "tasks-000001.jsonl", b"{}")
IMPORTED = answer_json({"workspace_id": "ws_1", "following": 4})


def refuse(status: str, *headers: str) -> bytes:
    return response("\r\n".join([status, *headers]), "application/problem+json", '{"title": "Busy", "detail": "not now"}')


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_a_file_of_an_archive_is_sent_again_as_often_as_the_service_asks_for_it(served: Served, status: str) -> None:
    busy = refuse(status, "retry-after: 0")
    received, outcome = await ask(served, "put_import_file", *FILE, answers=[busy, b"", busy, IMPORTED])
    assert outcome == {"workspace_id": "ws_1", "following": 4}
    assert [request.partition("\r\n")[0] for request in received] == ["PUT /v1/imports/ws_1/files?number=3 HTTP/1.1"] * 4


async def test_a_file_of_an_archive_is_given_up_in_the_end(served: Served) -> None:
    received, outcome = await ask(served, "put_import_file", *FILE, answers=[refuse("429 No", "retry-after: 0")])
    assert (len(received), type(outcome)) == (1 + len(AT_ONCE), package.ApiRateLimitedError)


@pytest.mark.parametrize("answer", [refuse("429 No"), refuse("409 No", "retry-after: 0"), refuse("422 No", "retry-after: 0")])
async def test_a_file_of_an_archive_that_is_refused_for_good_is_sent_once(served: Served, answer: bytes) -> None:
    received, outcome = await ask(served, "put_import_file", *FILE, answers=[answer])
    assert (len(received), isinstance(outcome, ApiRefusedError)) == (1, True)


@pytest.mark.parametrize(("header", "pause_s"), [("7", 7.0), ("0", 0.5), ("3600", 30.0), ("9" * 5_000, 30.0), ("soon", 0.5)])
def test_a_busy_service_is_given_the_time_that_it_asks_for(header: str, pause_s: float) -> None:
    attempts = Attempts(imports.put_import_file(*FILE), RETRY_WAITS_S)
    assert attempts.after_answer(429, {"retry-after": header}) == pause_s


async def test_any_other_request_is_told_that_the_service_is_busy(served: Served) -> None:
    keys, outcome = await start(served, refuse("429 No", "retry-after: 0"))
    assert (len(keys), type(outcome)) == (1, package.ApiRateLimitedError)


async def test_a_change_without_a_key_is_sent_once(served: Served) -> None:
    received, outcome = await ask(served, "change_task", "task_1", {"name": "x"}, answers=[b""])
    assert (len(received), type(outcome)) == (1, ApiUnreachableError)


@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.ConnectTimeout, httpx.ConnectError])
def test_a_read_that_took_too_long_or_reached_nobody_is_not_sent_again(error: type[httpx.RequestError]) -> None:
    assert Attempts(executions.get_execution("exec_1"), AT_ONCE).after_loss(error("")) is None
