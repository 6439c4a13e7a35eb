"""Both clients, over real sockets: what is asked for again after a lost answer or by a busy service, and what is not."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ferryman import client as package
from ferryman.client import ApiError, ApiRefusedError, ApiUnreachableError
from ferryman.client.attempts import READ_REPEATS, RETRY_WAITS_S, Attempts
from ferryman.client.routes import executions, imports, people
from ferryman.domain.owners.idempotency import parse_key
from ferryman.serving.keys import is_secret

from .served import AT_ONCE, Served, answer_json, connect, kind, response, served

__all__ = ["kind", "served"]

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
