"""Imports over HTTP: what one owner sends takes neither the memory nor the time of all."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from ferryman.serving.api import large_body

JSON = {"Content-Type": "application/json"}


async def send_import(client: httpx.AsyncClient, task: str, body: bytes) -> tuple[int, str]:
    """Return status and text of the answer to an import with this body."""
    answer = await client.post(f"/v1/tasks/{task}/tools/import-openapi", content=body, headers=JSON)
    return answer.status_code, answer.text


@pytest.mark.parametrize("place", ["/v1/tasks", "/api/agents"])
@pytest.mark.parametrize("body", ["[]", '"x"', "null", "1", "true", "[{}]"])
async def test_a_body_that_is_no_object_is_refused(client: httpx.AsyncClient, task: str, place: str, body: str) -> None:
    answer = await client.post(f"{place}/{task}/tools/import-openapi", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body")


@pytest.mark.parametrize("name", ["two\nlines", "a/b", "line\n", "\n", "a\r\nb"])
async def test_a_cluster_of_any_name_can_be_deleted(client: httpx.AsyncClient, task: str, name: str) -> None:
    document = {"openapi": "3.1.0", "info": {"title": name, "version": "1"}, "servers": [{"url": "https://api.github.com"}]}
    spec = document | {"paths": {"/zen": {"get": {"operationId": "zen", "responses": {}}}}}
    imported = (await client.post(f"/v1/tasks/{task}/tools/import-openapi", json={"spec": spec, "cluster": name})).json()
    answer = await client.delete(f"/v1/tasks/{task}/tools/cluster/{quote(imported['cluster'], safe='')}")
    assert (answer.status_code, answer.json()["data"]) == (200, {"deleted": imported["cluster"]})


async def test_a_body_of_too_many_values_is_refused_before_any_is_made(client: httpx.AsyncClient, task: str) -> None:
    status, text = await send_import(client, task, b'{"spec": {"x": [' + b"{}," * 1_000_001 + b"1]}}")
    assert status == 422
    assert "2000000 values" in text


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("[" * 200 + "]" * 200, "deep"),
        ("1e999", "double"),
        ('{"a": 1, "a": 2}', "twice"),
        ("9" * 5_000, "JSON"),
        ("NaN", "NaN"),
    ],
    ids=("deep", "large", "twice", "digits", "NaN"),
)
async def test_a_spec_that_is_an_object_is_held_to_what_one_that_is_a_text_is(
    client: httpx.AsyncClient, task: str, value: str, says: str
) -> None:
    status, text = await send_import(client, task, f'{{"spec": {{"x": {value}}}}}'.encode())
    assert status == 422
    assert says in text


async def test_an_import_whose_turn_does_not_come_is_to_be_tried_again(
    client: httpx.AsyncClient, app: FastAPI, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_body, "TURN_S", 0.01)
    turns = app.state.deps.imports
    while not turns.locked():
        await turns.acquire()
    assert (await send_import(client, task, b"{}"))[0] == 503
    turns.release()
    assert (await send_import(client, task, b"{}"))[0] == 422
    assert not turns.locked()
