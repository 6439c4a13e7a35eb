"""Answers are streamed as they are written: to who asked, and to who comes later; and they end whatever dies in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.journeys.conftest import Journey, NewKey

WORDS = "In Harwich, where it has been since the war. " * 5


@pytest.fixture
async def http(journey: Journey, new_key: NewKey) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {await new_key('pro')}"}
    async with httpx.AsyncClient(base_url=journey.stack["url"], headers=headers, timeout=60) as opened:
        yield opened


async def create_task(journey: Journey, http: httpx.AsyncClient, *steps: dict[str, Any]) -> str:
    await journey.admin.set_script(journey.name, {"steps": list(steps)})
    task = {"name": "Ferries", "task_prompt": "Answer.", "model": f"scripted/{journey.name}"}
    return str((await http.post("/v1/tasks", json=task)).json()["task_id"])


def write_slowly(text: str = WORDS) -> dict[str, Any]:
    """Return a step whose reply takes a second to be written."""
    return {"text": text, "stream": {"delay_ms": 1_000 // len(text.split())}}


@asynccontextmanager
async def ask(http: httpx.AsyncClient, task: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """Ask, and give the messages of the stream as they come."""
    async with http.stream("POST", f"/api/agents/{task}/chat", json={"content": "Where is it?", "stream": True}) as answer:
        yield read(answer)


async def read(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def test_an_answer_comes_while_it_is_written(journey: Journey, http: httpx.AsyncClient) -> None:
    task = await create_task(journey, http, write_slowly())
    async with ask(http, task) as messages:
        received = [message async for message in messages]
    texts = [message["content"] for message in received if message["type"] == "content"]
    assert len(texts) > 5
    assert "".join(texts) == received[-1]["content"] == WORDS


async def test_who_leaves_does_not_stop_it_and_sees_all_of_it_later(journey: Journey, http: httpx.AsyncClient) -> None:
    task = await create_task(journey, http, write_slowly())
    async with ask(http, task) as messages:
        started = await anext(messages)
    answer = await http.get(f"/v1/executions/{started['executionId']}/events?format=message")
    assert json.loads(answer.text.strip().rpartition("data: ")[2])["content"] == WORDS


async def test_where_both_die_amid_a_stream_the_answer_comes(journey: Journey, http: httpx.AsyncClient) -> None:
    task = await create_task(journey, http, write_slowly())
    async with ask(http, task) as messages:
        started = await anext(messages)
        while (await anext(messages))["type"] != "content":
            pass
        for function in ("api", "orchestrator"):
            await journey.admin.kill(function)
        with pytest.raises(httpx.HTTPError):
            async for _ in messages:
                pass
    received = await read_again(http, started["executionId"])
    assert (received[-1]["type"], received[-1]["content"]) == ("done", WORDS)


async def read_again(http: httpx.AsyncClient, execution: str) -> list[dict[str, Any]]:
    """Return all messages of an execution to its end, once there is an API again."""
    while True:
        try:
            async with http.stream("GET", f"/v1/executions/{execution}/events?format=message") as answer:
                return [message async for message in read(answer)]
        except httpx.ConnectError:
            await asyncio.sleep(0.1)
