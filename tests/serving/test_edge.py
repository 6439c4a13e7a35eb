"""The edge: whatever is wrong with a request, the answer is a problem, and nothing was done."""

from __future__ import annotations

import linecache
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.page import Page
from ferryman.domain.tasks.task import Task
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api import access

from .conftest import TASK, Stage, create_app
from .routes import ROUTES

JSON = {"Content-Type": "application/json"}
TITLES = {
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


def read_problem(answer: httpx.Response) -> tuple[int, str]:
    """Return status and detail, of what must be a problem."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["type"] == "about:blank"
    assert body["status"] == answer.status_code
    assert body["title"] == TITLES[answer.status_code]
    assert set(body) <= {"type", "title", "status", "detail", "errors"}
    assert "Traceback" not in answer.text
    return answer.status_code, body["detail"]


@pytest.mark.parametrize("text", ["{", "", "nul", '{"name": }', "[" * 9_000, '{"a": 1}}', b"\xff\xfe", '{"name": "\x01"}'])
async def test_malformed_json_is_a_problem(client: httpx.AsyncClient, text: str | bytes) -> None:
    status, _ = read_problem(await client.post("/v1/tasks", content=text, headers=JSON))
    assert status == (400 if text else 422)


@pytest.mark.parametrize("text", ["[]", '"x"', "1", "null", "true"])
async def test_json_that_is_no_object_is_a_problem(client: httpx.AsyncClient, text: str) -> None:
    answer = await client.post("/v1/tasks", content=text, headers=JSON)
    assert read_problem(answer)[0] == 422
    assert answer.json()["errors"][0]["field"] == "body"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""]
)
async def test_a_body_of_another_type_is_a_problem(client: httpx.AsyncClient, kind: str) -> None:
    answer = await client.post("/v1/tasks", content="{}", headers={"Content-Type": kind})
    assert read_problem(answer) == (415, "the body must be application/json")


async def test_a_body_may_say_its_charset(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/tasks", json=TASK, headers={"Content-Type": "Application/JSON; charset=utf-8"})
    assert answer.status_code == 201


async def test_a_body_of_a_megabyte_passes_and_one_byte_more_does_not(client: httpx.AsyncClient) -> None:
    for size, status in ((1_000_000, 422), (1_000_001, 413)):
        body = '{"name": "' + "x" * (size - 12) + '"}'
        assert read_problem(await client.post("/v1/tasks", content=body, headers=JSON))[0] == status


async def test_a_body_that_does_not_say_its_length_is_counted_as_it_comes(client: httpx.AsyncClient) -> None:
    drawn = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal drawn
        while True:
            drawn += 1
            yield b" " * 100_000

    answer = await client.post("/v1/tasks", content=endless(), headers=JSON)
    assert read_problem(answer) == (413, "the body is larger than 1000000 bytes")
    assert drawn < 15


async def test_a_length_that_is_a_lie_is_not_believed(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/tasks", content=b" " * 1_000_001, headers={**JSON, "Content-Length": "10"})
    assert read_problem(answer)[0] == 413


@pytest.mark.parametrize("path", ["/v1", "/v1/tasks/", "/v2/tasks", "/redoc", "/v1/nothing"])
async def test_an_unknown_route_is_a_problem(client: httpx.AsyncClient, path: str) -> None:
    assert read_problem(await client.get(path)) == (404, "there is nothing here")


async def test_a_wrong_method_is_a_problem_that_names_the_right_ones(client: httpx.AsyncClient) -> None:
    answer = await client.put("/v1/me")
    assert read_problem(answer) == (405, "this method is not served here")
    assert answer.headers["allow"] == "GET"
    assert (await client.put("/v1/tasks/x")).headers["allow"] == "DELETE, GET, PATCH"


async def test_a_wrong_method_is_one_whatever_body_it_has_where_files_are(client: httpx.AsyncClient) -> None:
    answer = await client.request("TRACE", "/v1/files/a.md", content="# A file\n", headers={"Content-Type": "text/markdown"})
    assert read_problem(answer)[0] == 405


async def test_what_nobody_expected_is_a_problem_without_a_word_of_it(stage: Stage) -> None:
    class Broken(MemoryTasks):
        async def list(self, owner: str, **_: Any) -> Page[Task]:
            raise RuntimeError(f"the secret of {owner}")

    async with asking(create_app(replace(stage.deps(), tasks=Broken(stage.memory))), stage) as client:
        answer = await client.get("/v1/tasks")
    assert read_problem(answer) == (500, "something went wrong on our side")
    assert "secret" not in repr(stage.log.lines)


async def crash(stage: Stage, **headers: str) -> dict[str, Any]:
    """Return what is logged of a request that crashes in a store."""

    class Broken(MemoryTasks):
        async def get(self, task: str) -> Task | None:
            raise RuntimeError(f"the secret of {task}")

    deps = replace(stage.deps(), tasks=Broken(stage.memory))
    async with asking(create_app(deps), stage) as client:
        await client.get("/v1/tasks/hidden?also=hidden", headers=headers)
    event, fields = stage.log.lines[-1]
    assert event == "api.crash"
    return fields


async def test_a_crash_is_logged_with_its_route_its_type_and_the_last_place_of_ours(stage: Stage) -> None:
    fields = await crash(stage)
    assert (fields["route"], fields["error"]) == ("GET /v1/tasks/{task_id}", "RuntimeError")
    module, _, line = fields["at"].partition(":")
    assert module == "ferryman.serving.api.access"
    assert "deps.tasks.get(task_id)" in linecache.getline(access.__file__, int(line))


async def test_nothing_that_was_sent_is_logged_of_a_crash(stage: Stage) -> None:
    assert "hidden" not in repr(await crash(stage, traceparent="hidden", hidden="hidden"))


async def test_a_crash_belongs_to_the_trace_of_its_request(stage: Stage) -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    await crash(stage, traceparent=parent)
    span = stage.log.spans[-1]
    assert (span.parent, span.attributes["error.type"]) == (parent, "RuntimeError")


async def test_a_service_that_does_not_answer_is_a_problem_that_says_when_to_try_again(stage: Stage) -> None:
    class UnavailableTasks(MemoryTasks):
        async def list(self, owner: str, **_: Any) -> Page[Task]:
            raise UnavailableError("Firestore at 10.1.2.3 does not answer", after_s=4)

    async with asking(create_app(replace(stage.deps(), tasks=UnavailableTasks(stage.memory))), stage) as client:
        answer = await client.get("/v1/tasks")
    assert read_problem(answer)[0] == 503
    assert answer.headers["retry-after"] == "4"
    assert "10.1.2.3" not in answer.text


def asking(app: FastAPI, stage: Stage) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://api.test", headers=stage.owner("ann"))


@pytest.mark.parametrize(
    "body",
    [
        b'{"name":[' + b"[]," * 320_000 + b"1]}",
        b'{"tools":[' + b"{}," * 320_000 + b"{}]}",
        b"{" + b",".join(b'"f%d":1' % number for number in range(60_000)) + b"}",
    ],
    ids=("lists", "objects", "fields"),
)
async def test_a_body_of_too_many_values_is_refused_before_any_is_made(client, body):
    answer = await client.post("/v1/tasks", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["detail"]) == (422, "the body has more than 10000 values")


async def test_signs_within_a_text_are_no_values(client):
    body = {**TASK, "task_prompt": '",[{' * 12_000}
    assert (await client.post("/v1/tasks", json=body)).status_code == 201


async def test_of_many_faults_the_first_are_told(client):
    answer = await client.post("/v1/tasks", json={f"f{number}": 1 for number in range(5_000)})
    assert (answer.status_code, len(answer.json()["errors"])) == (422, 100)


@pytest.mark.parametrize("character", ["%0A", "%0D", "%00", "%20"])
async def test_a_character_behind_a_path_makes_another_path(client: httpx.AsyncClient, task: str, character: str) -> None:
    asks = [(ask.method, ask.url(task, "exec_none").partition("?")[0], ask.body) for ask in ROUTES]
    asks += [("GET", "/docs", None), ("GET", "/openapi.json", None)]
    for method, path, body in asks:
        answer = await client.request(method, path + character, json=body)
        # the name of a credential is the end of a path, and this is none
        statuses = (404, 405, 422) if method == "PUT" else (404, 405)
        assert answer.status_code in statuses, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
