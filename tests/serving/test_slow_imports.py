"""Imports whose bodies come slowly: they hold up nobody else's, and who loses the right meanwhile imports nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import httpx
import pytest

from ferryman.composition.api import IMPORTS_AT_ONCE, IMPORTS_PER_OWNER
from ferryman.domain.workspaces.member import Role
from ferryman.serving import keys
from ferryman.serving.api.limits import FILES, IMPORTS_MAX

from .conftest import TASK, Stage
from .importing import IMPORTS, describe_file, take_apart
from .test_importing import archive  # noqa: F401 - a fixture
from .values import EMPTY

JSON = {"content-type": "application/json"}
FILE = json.dumps(describe_file("tools-000001.jsonl", EMPTY.encode())).encode()


@dataclass
class Trickle:
    """Bodies that end once they are released; `begun` counts those of which something was read."""

    released: asyncio.Event = field(default_factory=asyncio.Event)
    begun: int = 0

    async def send(self, body: bytes) -> AsyncIterator[bytes]:
        self.begun += 1
        yield body[:1]
        await self.released.wait()
        yield body[1:]

    async def wait(self, begun: int) -> None:
        while self.begun < begun:  # noqa: ASYNC110 - workers and threads take part
            await asyncio.sleep(0.001)


async def put_last(client: httpx.AsyncClient, stage: Stage, owner: str, trickle: Trickle | None = None) -> httpx.Response:
    """Send the last file of an owner's import again, which changes nothing."""
    content = FILE if trickle is None else trickle.send(FILE)
    url = f"{IMPORTS}/ws_{owner}/files?number=1"
    return await client.put(url, content=content, headers={**JSON, **stage.owner(owner)})


async def test_one_owners_slow_files_leave_a_turn_to_others(client: httpx.AsyncClient, stage: Stage) -> None:
    trickle = Trickle()
    slow = [asyncio.create_task(put_last(client, stage, "greedy", trickle)) for _ in range(IMPORTS_MAX)]
    await trickle.wait(IMPORTS_PER_OWNER)
    assert (await put_last(client, stage, "ann")).status_code == 200
    assert trickle.begun == IMPORTS_PER_OWNER
    trickle.released.set()
    assert {answer.status_code for answer in await asyncio.gather(*slow)} == {200}


async def test_slow_files_take_none_of_the_turns_to_work(client: httpx.AsyncClient, stage: Stage) -> None:
    trickle = Trickle()
    owners = [f"slow{number}" for number in range(IMPORTS_AT_ONCE)]
    slow = [asyncio.create_task(put_last(client, stage, owner, trickle)) for owner in owners]
    await trickle.wait(IMPORTS_AT_ONCE)
    assert (await put_last(client, stage, "ann")).status_code == 200
    trickle.released.set()
    assert {answer.status_code for answer in await asyncio.gather(*slow)} == {200}


async def test_files_are_counted_over_time(client: httpx.AsyncClient, stage: Stage) -> None:
    for _ in range(FILES.at_once):  # the clock does not move
        assert (await client.put(f"{IMPORTS}/ws_ann/files?number=9", content=FILE, headers=JSON)).status_code == 409
    refused = await put_last(client, stage, "ann")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert (await put_last(client, stage, "bob")).status_code == 200


async def lose(body: bytes, change: Callable[[], object]) -> AsyncIterator[bytes]:
    """Send a body, between whose parts something changes."""
    yield body[:1]
    change()
    yield body[1:]


def revoke(stage: Stage, headers: dict[str, str]) -> Callable[[], object]:
    digest = keys.digest_key(headers["Authorization"].removeprefix("Bearer "))
    return lambda: stage.memory.keys.pop(digest)


async def test_a_key_that_is_revoked_while_a_file_comes_stores_nothing(
    client: httpx.AsyncClient,
    archive: bytes,  # noqa: F811
    stage: Stage,
) -> None:
    begins, files = take_apart(archive)
    workspace = (await client.post(IMPORTS, json=begins)).json()["workspace_id"]
    (name, data), *_ = files.items()
    body = json.dumps(describe_file(name, data)).encode()
    before = stage.memory.workspaces[workspace]
    content = lose(body, revoke(stage, stage.owner("ann")))
    answer = await client.put(f"{IMPORTS}/{workspace}/files?number=0", content=content, headers=JSON)
    assert (answer.status_code, "lost its right" in answer.json()["detail"]) == (403, True)
    assert stage.memory.workspaces[workspace] == before


@pytest.mark.parametrize("loss", ["key", "role"])
async def test_who_loses_the_right_while_a_document_comes_imports_no_tool(
    client: httpx.AsyncClient, stage: Stage, loss: str
) -> None:
    task = (await client.post("/v1/tasks", json=TASK)).json()["task_id"]
    headers = stage.member(Role.ADMIN)
    (place,) = [place for place, member in stage.memory.memberships.items() if member.role is Role.ADMIN]
    change = revoke(stage, headers) if loss == "key" else lambda: stage.memory.memberships.pop(place)
    spec = {"openapi": "3.0.0", "info": {"title": "Cats"}, "paths": {"/cats": {"get": {}}}}
    body = json.dumps({"spec": json.dumps({**spec, "servers": [{"url": "https://api.github.com"}]})}).encode()
    url = f"/v1/tasks/{task}/tools/import-openapi"
    answer = await client.post(url, content=lose(body, change), headers={**JSON, **headers})
    assert (answer.status_code, "lost its right" in answer.json()["detail"]) == (403, True)
    assert stage.memory.clusters.get(task, {}) == {}
