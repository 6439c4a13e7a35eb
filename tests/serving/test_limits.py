"""Sharing an instance: what one owner asks for at once leaves room for everybody else."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from ferryman.composition.api import IMPORTS_PER_OWNER, REQUESTS_PER_KEY, REQUESTS_PER_OWNER
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.serving.api import limits

from .conftest import TASK, Stage, create_app

IMPORT = "/v1/tasks/{}/tools/import-openapi"
URL = {"url": "https://greedy.example.com/openapi.json"}


@dataclass
class Slow:
    """What greedy asks for ends when it is released; `begun` counts how often it was asked for."""

    released: asyncio.Event = field(default_factory=asyncio.Event)
    begun: int = 0

    async def wait(self) -> None:
        self.begun += 1
        await self.released.wait()


class SlowExecutions(MemoryExecutions):
    """Lists of greedy's executions are slow."""

    def __init__(self, stage: Stage, slow: Slow) -> None:
        super().__init__(stage.memory)
        self._slow = slow

    async def list(self, workspace: str, **query: Any) -> Any:
        if workspace == derive_default_workspace("greedy"):
            await self._slow.wait()
        return await super().list(workspace, **query)


@dataclass
class SlowDocuments:
    """Documents of greedy's are slow to fetch."""

    slow: Slow

    async def fetch(self, task: str, *, owner: str, url: str) -> dict[str, str]:
        if owner == "greedy":
            await self.slow.wait()
        return {url: "{}"}


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
async def shared(stage: Stage, slow: Slow) -> AsyncIterator[httpx.AsyncClient]:
    deps = replace(stage.deps(), executions=SlowExecutions(stage, slow), documents=SlowDocuments(slow))
    app = create_app(deps)
    app.state.groups.load_all()  # none of the requests waits for an import
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
        yield client


async def under_way(slow: Slow, begun: int, many: int, asking: Any) -> list[asyncio.Task[httpx.Response]]:
    """Make `many` requests at once, and wait until `begun` of them are slow and those are answered that may not wait."""
    tasks = [asyncio.create_task(asking()) for _ in range(many)]
    while slow.begun < begun or sum(task.done() for task in tasks) < many - limits.REQUESTS_MAX:  # noqa: ASYNC110 - workers and threads take part
        await asyncio.sleep(0.001)
    return tasks


async def test_an_owner_has_so_many_requests_under_way_and_others_are_answered(
    shared: httpx.AsyncClient, stage: Stage, slow: Slow
) -> None:
    greedy, ann = stage.owner("greedy"), stage.owner("ann")
    requests = await under_way(slow, REQUESTS_PER_KEY, 100, lambda: shared.get("/v1/executions", headers=greedy))
    assert slow.begun == REQUESTS_PER_KEY
    assert (await shared.get("/v1/executions", headers=ann)).status_code == 200
    slow.released.set()
    answers = await asyncio.gather(*requests)
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(refused) == 100 - limits.REQUESTS_MAX
    assert {answer.status_code for answer in answers} == {200, 429}
    assert refused[0].headers["retry-after"] == "1"
    assert str(limits.REQUESTS_MAX) in refused[0].json()["detail"]


async def test_an_owners_keys_have_no_more_turns_together_than_the_owner(
    shared: httpx.AsyncClient, stage: Stage, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ferryman.serving.api.access.REQUEST_S", math.inf)  # who waits is never refused for the time it takes
    ann, many = stage.owner("ann"), 24
    keys = itertools.cycle([stage.owner("greedy"), *(stage.member(Role.VIEWER, owner="greedy") for _ in range(many - 1))])
    count = many * REQUESTS_PER_KEY
    requests = [asyncio.create_task(shared.get("/v1/executions", headers=next(keys))) for _ in range(count)]
    refused = count - limits.OWNER_REQUESTS_MAX
    while slow.begun < REQUESTS_PER_OWNER or sum(request.done() for request in requests) < refused:  # noqa: ASYNC110 - likewise
        await asyncio.sleep(0.001)
    assert slow.begun == REQUESTS_PER_OWNER
    assert (await shared.get("/v1/executions", headers=ann)).status_code == 200
    slow.released.set()
    codes = Counter(answer.status_code for answer in await asyncio.gather(*requests))
    assert codes == {200: limits.OWNER_REQUESTS_MAX, 429: refused}


async def test_an_owners_keys_start_no_more_executions_together_than_the_owner(
    client: httpx.AsyncClient, stage: Stage, task: str
) -> None:
    keys = [stage.owner("ann"), *(stage.member(Role.OPERATOR) for _ in range(PRO.executions_running))]
    start = [await client.post(f"/v1/tasks/{task}/executions", headers=headers) for headers in keys]
    assert [answer.status_code for answer in start] == [202] * PRO.executions_running + [429]
    again = [await client.post(f"/v1/tasks/{task}/executions", headers=headers) for headers in keys]
    assert {answer.status_code for answer in again} == {429}


async def test_a_request_does_not_wait_for_ever_for_its_owners_others(
    shared: httpx.AsyncClient, stage: Stage, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = stage.owner("greedy")
    requests = await under_way(slow, REQUESTS_PER_KEY, REQUESTS_PER_KEY, lambda: shared.get("/v1/executions", headers=greedy))
    monkeypatch.setattr("ferryman.serving.api.access.REQUEST_S", 0.01)
    assert (await shared.get("/v1/executions", headers=greedy)).status_code == 429
    slow.released.set()
    assert {response.status_code for response in await asyncio.gather(*requests)} == {200}


async def test_imports_of_one_owner_leave_a_turn_to_others(shared: httpx.AsyncClient, stage: Stage, slow: Slow) -> None:
    greedy, ann = stage.owner("greedy"), stage.owner("ann")
    mine = (await shared.post("/v1/tasks", json=TASK, headers=ann)).json()["task_id"]
    theirs = (await shared.post("/v1/tasks", json=TASK, headers=greedy)).json()["task_id"]
    requests = await under_way(slow, IMPORTS_PER_OWNER, 8, lambda: shared.post(IMPORT.format(theirs), json=URL, headers=greedy))
    answer = await shared.post(IMPORT.format(mine), json=URL, headers=ann)
    assert (answer.status_code, slow.begun) == (422, IMPORTS_PER_OWNER)  # it was read, and is no document
    slow.released.set()
    codes = sorted(response.status_code for response in await asyncio.gather(*requests))
    assert codes == [422] * limits.IMPORTS_MAX + [429] * (8 - limits.IMPORTS_MAX)
