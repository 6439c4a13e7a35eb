"""Imports over HTTP: what one owner sends takes neither the memory nor the time of all."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from ferryman.serving.api import custom

JSON = {"Content-Type": "application/json"}


async def send_import(client: httpx.AsyncClient, task: str, body: bytes) -> tuple[int, str]:
    """Return status and text of the answer to an import with this body."""
    answer = await client.post(f"/v1/tasks/{task}/tools/import-openapi", content=body, headers=JSON)
    return answer.status_code, answer.text


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
    monkeypatch.setattr(custom, "TURN_S", 0.01)
    turns = app.state.deps.imports
    while not turns.locked():
        await turns.acquire()
    assert (await send_import(client, task, b"{}"))[0] == 503
    turns.release()
    assert (await send_import(client, task, b"{}"))[0] == 422
    assert not turns.locked()
