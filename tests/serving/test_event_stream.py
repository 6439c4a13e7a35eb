"""Watching: an owner's open streams are counted, and one ends with its client, with its execution, or with its process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.owners.plan import PRO
from ferryman.domain.owners.stream import HOLD, RENEWAL
from ferryman.feeds import Feed
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryStreams
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api import event_stream
from tests.builders import build_execution

from .conftest import Stage, create_app
from .test_events import finish
from .test_executions import started


@dataclass
class Browser:
    """A client of the API that stays for as long as it likes: `app` is asked as a server asks it."""

    app: FastAPI
    path: str
    headers: dict[str, str]
    leaves: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 0
    body: bytes = b""
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def watch(self) -> None:
        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await self.leaves.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            self.status = message.get("status", self.status)
            self.body += message.get("body", b"")
            self.opened.set()

        path = self.path.encode()
        headers = [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "GET"}
        scope |= {
            "scheme": "http",
            "path": self.path,
            "raw_path": path,
            "query_string": b"",
            "root_path": "",
            "headers": headers,
        }
        await self.app({**scope, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}, receive, send)


async def open_stream(app: FastAPI, stage: Stage, execution: str, owner: str = "ann") -> tuple[Browser, asyncio.Task[None]]:
    browser = Browser(app, f"/v1/executions/{execution}/events", stage.owner(owner))
    watching = asyncio.create_task(browser.watch())
    await browser.opened.wait()
    return browser, watching


def count(stage: Stage, owner: str = "ann") -> int:
    return len(stage.memory.streams.get(owner, {}))


async def test_one_stream_more_than_may_be_open_is_refused(
    client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    open_ones = [await open_stream(app, stage, execution) for _ in range(PRO.streams)]
    assert count(stage) == PRO.streams
    answer = await client.get(f"/v1/executions/{execution}/events")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
    assert answer.json()["detail"] == "you have 20 streams of events open, which is the most your plan allows"
    for browser, watching in open_ones:
        browser.leaves.set()
        await watching
    assert {browser.status for browser, _ in open_ones} == {200}


async def test_a_client_that_leaves_makes_room(client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage) -> None:
    browser, watching = await open_stream(app, stage, await started(client, task))
    browser.leaves.set()
    await watching
    assert count(stage) == 0


async def test_a_server_that_breaks_the_stream_off_makes_room(
    client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage
) -> None:
    _, watching = await open_stream(app, stage, await started(client, task))
    watching.cancel()
    await asyncio.wait([watching])
    await asyncio.sleep(0)
    assert count(stage) == 0


async def test_an_execution_that_ends_makes_room(client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    browser, watching = await open_stream(app, stage, execution)
    finish(stage.memory, execution)
    await watching
    assert (count(stage), b"event: finished" in browser.body) == (0, True)


async def test_who_has_just_lost_the_right_is_not_sent_the_end(
    client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    browser, watching = await open_stream(app, stage, execution)
    stage.memory.keys.clear()
    finish(stage.memory, execution)
    await watching
    assert b"event: finished" not in browser.body


async def test_an_owner_with_all_its_streams_open_still_reads_what_has_ended(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    finish(stage.memory, execution)
    stage.memory.streams["ann"] = {str(number): stage.clock.now() + HOLD for number in range(PRO.streams)}
    assert (await client.get(f"/v1/executions/{execution}/events")).status_code == 200


async def test_streams_of_one_execution_share_its_reads() -> None:
    feed = Feed(MemoryExecutions(Memory()), build_execution())
    reads = await asyncio.gather(*(feed.refresh(0) for _ in range(9)))
    assert reads == [1] * 9
    assert [await feed.refresh(1), await feed.refresh(1), await feed.refresh(2)] == [2, 2, 3]


async def test_an_execution_that_nobody_watches_any_longer_is_forgotten(
    client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage
) -> None:
    browser, watching = await open_stream(app, stage, await started(client, task))
    hub = app.state.deps.hub
    while not hub.count("ann"):  # noqa: ASYNC110 - its first read
        await asyncio.sleep(0)
    browser.leaves.set()
    await watching
    assert hub.count("ann") == 0


@pytest.mark.parametrize("ends", [True, False])
async def test_a_stream_says_that_it_is_open_and_ends_where_it_lost_its_place(
    client: httpx.AsyncClient, app: FastAPI, task: str, stage: Stage, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    monkeypatch.setattr(event_stream, "KEEP_ALIVE_S", 0.0)
    browser, watching = await open_stream(app, stage, await started(client, task))
    stage.clock.turn((HOLD if ends else RENEWAL).total_seconds())
    if ends:
        later = stage.clock.now() + HOLD
        stage.memory.streams["ann"] = {str(number): later for number in range(PRO.streams)}
        await watching
    else:
        while max(stage.memory.streams["ann"].values()) < stage.clock.now() + HOLD:  # noqa: ASYNC110 - the poll's own time
            await asyncio.sleep(0)
        assert not watching.done()
        browser.leaves.set()
        await watching
        assert count(stage) == 0


async def test_a_stream_that_cannot_be_counted_is_not_opened(task: str, stage: Stage, client: httpx.AsyncClient) -> None:
    class UnavailableStreams(MemoryStreams):
        async def hold(self, *_: Any, **__: Any) -> bool:
            raise UnavailableError("no answer")

    execution = await started(client, task)
    app = create_app(replace(stage.deps(), streams=UnavailableStreams(stage.memory)))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://api.test", headers=stage.owner("ann")
    ) as other:
        assert (await other.get(f"/v1/executions/{execution}/events")).status_code == 503
