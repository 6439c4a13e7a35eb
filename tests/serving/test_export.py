"""Export over HTTP: one archive of a workspace, whole, without a secret, verifiable offline, in bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import io
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from ferryman import verify_receipts as verifier
from ferryman.archives.reading import iterate_files, read_archive
from ferryman.domain.archives.lines import ArchiveError, read_lines
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.executions.execution import Status
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.clock import START
from ferryman.serving import keys
from ferryman.serving.archived import iterate_executions
from ferryman.serving.exporting import WorkspaceExport
from tests.builders import build_label
from tests.canaries import canary
from tests.receipts.runs import RUNS, finish_run

from .conftest import Stage
from .test_events import finish
from .test_executions import started

MIB = 1_048_576
URL = "/v1/workspaces/{}/export"


def default(owner: str = "ann") -> str:
    return URL.format(derive_default_workspace(owner))


def read(archive: bytes, kind: str) -> list[dict[str, Any]]:
    """Return the lines of one kind."""
    files = [(name, data) for name, data in iterate_files(io.BytesIO(archive)) if name.startswith(f"{kind}-")]
    return [line for name, data in files for _, line in read_lines(name, data)]


async def test_an_archive_holds_the_definitions_and_what_has_ended(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    ended, under_way = await started(client, task), await started(client, task)
    finish(stage.memory, ended)
    answer = await client.get(default())
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/gzip"
    manifest = read_archive(io.BytesIO(answer.content))
    assert {kind: count for kind, count in manifest.counts.items() if count} == {
        "workspace": 1,
        "agents": 2,
        "tasks": 1,
        "members": 1,
        "audit": 1,
        "files": 1,
        "conversations": 1,
        "messages": 2,
        "executions": 1,
    }
    assert manifest.left_out == 1
    ((_, execution),) = iterate_executions(enumerate_lines(answer.content))
    assert execution.place["execution"] == ended
    assert under_way.encode() not in gzip.decompress(answer.content)
    assert [line["id"] for line in read(answer.content, "tasks")] == [task]


def enumerate_lines(archive: bytes) -> list[tuple[str, dict[str, Any]]]:
    files = [(name, data) for name, data in iterate_files(io.BytesIO(archive)) if name.startswith("executions-")]
    return [placed for name, data in files for placed in read_lines(name, data)]


async def export(stage: Stage, owner: str) -> bytes:
    """Return the archive of the owner's default workspace."""

    async def check() -> None:
        return None

    workspace = await stage.deps().workspaces.get(derive_default_workspace(owner), owner=owner)
    assert workspace is not None
    return b"".join([written async for written in WorkspaceExport(stage.deps(), workspace, check).stream()])


@pytest.mark.parametrize("name", RUNS)
async def test_records_and_receipts_in_an_archive_are_those_that_the_api_answered_and_verify_offline(name: str) -> None:
    run = await finish_run(RUNS[name])
    archive = await export(Stage(memory=run.stage.memory), "o")
    ((_, execution),) = iterate_executions(enumerate_lines(archive))
    assert execution.to_record() == run.record
    chain = execution.to_chain(run.receipts["keys"])
    assert chain == run.receipts | {"next": None} or chain == {**run.receipts}
    assert verifier.compare(chain, execution.to_record()) == ([], []) if chain["entries"] else True


async def test_the_same_workspace_has_the_same_archive(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    finish(stage.memory, await started(client, task))
    assert (await client.get(default())).content == (await client.get(default())).content


async def test_no_secret_of_any_kind_is_in_it(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    secrets_of = {
        kind: canary.create_key(f"export, {kind}", 24) for kind in ("value", "former", "alert", "arguments", "coverage")
    }
    name = await started(client, task)
    finish(stage.memory, name)
    memory, workspace = stage.memory, derive_default_workspace("ann")
    memory.workspaces[workspace] = Workspace(
        id=workspace,
        owner="ann",
        name="Kitchen",
        alert_url=f"https://hooks.example.com/{secrets_of['alert']}",
        created_at=START,
        updated_at=START,
    )
    label = build_label(owner="ann", task=task, name="GITHUB_TOKEN", service="github", hosts=("api.github.com",))
    memory.credentials[task] = {
        "GITHUB_TOKEN": SealedCredential(
            label=label, ciphertext=secrets_of["value"].encode(), key_version=1, created_at=START, updated_at=START
        )
    }
    memory.tickets[name][0] = replace(memory.tickets[name][0], arguments=secrets_of["arguments"].encode())
    memory.executions[name] = replace(memory.executions[name], coverage=secrets_of["coverage"].encode())
    digests = list(memory.keys)
    answer = await client.get(default())
    unpacked = gzip.decompress(answer.content)
    secrets = [*secrets_of.values(), *stage.keys.values(), *digests]
    for text in (secret.encode() for secret in secrets):
        assert text not in unpacked
        assert text not in answer.content
    assert b"GITHUB_TOKEN" in unpacked
    assert read(answer.content, "tasks")[0]["credentials"] == [
        {
            "name": "GITHUB_TOKEN",
            "service": "github",
            "auth_type": "bearer",
            "auth_header_name": None,
            "auth_param_name": None,
            "hosts": ["api.github.com"],
        }
    ]


async def test_what_is_in_another_workspace_is_not_in_it(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    finish(stage.memory, await started(client, task))
    answer = await client.get(URL.format("ws_ann"))
    counts = read_archive(io.BytesIO(answer.content)).counts
    assert {kind: count for kind, count in counts.items() if count} == {"workspace": 1, "agents": 1}
    assert task.encode() not in gzip.decompress(answer.content)


async def test_a_workspace_of_another_owner_is_not_found(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.owner("bob")
    theirs, nobodys = await client.get(URL.format("ws_bob")), await client.get(URL.format("ws_none"))
    assert (theirs.status_code, theirs.content) == (404, nobodys.content)


async def test_one_export_of_an_owner_is_made_at_a_time(client: httpx.AsyncClient, stage: Stage) -> None:
    streams = stage.deps().streams
    await streams.hold("export:ann", "other", now=stage.clock.now(), until=stage.clock.now() + timedelta(minutes=1), most=1)
    answer = await client.get(default())
    assert (answer.status_code, answer.json()["detail"]) == (429, "an export of yours is under way; one at a time is made")
    await streams.release("export:ann", "other")
    stage.clock.turn(timedelta(seconds=1))  # for so long a refusal is repeated
    assert (await client.get(default())).status_code == 200
    assert (await client.get(default())).status_code == 200


async def test_exports_are_limited_over_time(client: httpx.AsyncClient, stage: Stage) -> None:
    app_limited = [(await client.get(default())).status_code for _ in range(4)]
    assert app_limited == [200, 200, 200, 429]
    stage.clock.turn(timedelta(seconds=10))
    assert (await client.get(default())).status_code == 200


async def test_a_thousand_executions_stream_in_bounded_memory(stage: Stage) -> None:
    stage.owner("ann")
    template = await finish_run(RUNS["with_calls"])
    memory = stage.memory
    for number in range(1_000):
        name, long = f"e{number:04d}", f"{number} " + "text " * 10_000
        execution = template.stage.memory.executions["e"]
        at = START + timedelta(seconds=number)
        memory.executions[name] = replace(
            execution, id=name, owner="ann", workspace=derive_default_workspace("ann"), created_at=at, output=long
        )
        memory.steps[name] = template.stage.memory.steps["e"]
        memory.tickets[name] = template.stage.memory.tickets["e"]
        memory.openings[name] = template.stage.memory.openings["e"]
    total, largest = 0, 0

    async def check() -> None:
        return None

    async def iterate() -> AsyncIterator[bytes]:
        workspace = await stage.deps().workspaces.get(derive_default_workspace("ann"), owner="ann")
        assert workspace is not None
        async for written in WorkspaceExport(stage.deps(), workspace, check).stream():
            yield written

    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        async for written in iterate():
            total, largest = total + len(written), max(largest, len(written))
            await asyncio.sleep(0)
        grown = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    print(f"{grown / MIB:.1f} MiB more while {total / MIB:.1f} MiB were written")
    assert grown < 64 * MIB
    assert largest < MIB
    assert execution.status is Status.COMPLETED


async def test_a_member_needs_the_right_to_manage(client: httpx.AsyncClient, stage: Stage) -> None:
    statuses = {role: (await client.get(default(), headers=stage.member(role))).status_code for role in Role}
    assert statuses == {Role.VIEWER: 403, Role.OPERATOR: 403, Role.ADMIN: 200}


@pytest.mark.parametrize("loss", ["deleting", "gone"])
async def test_an_export_with_the_owners_key_ends_with_the_workspace_that_is_exported(
    client: httpx.AsyncClient, task: str, stage: Stage, loss: str
) -> None:
    memory, workspace = stage.memory, "ws_ann"
    agents = MemoryAgents.list

    async def lose_workspace(self: MemoryAgents, owner: str, name: str) -> Any:
        stage.clock.turn(1)
        stored = memory.workspaces.pop(workspace)
        if loss == "deleting":
            memory.workspaces[workspace] = replace(stored, state=WorkspaceState.DELETING)
        return await agents(self, owner, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryAgents, "list", lose_workspace)
        answer = await client.get(URL.format(workspace))
    assert answer.status_code == 200
    with pytest.raises(ArchiveError, match="cut short"):
        read_archive(io.BytesIO(answer.content))
    assert "export.broken_off" in [line[0] for line in stage.log.lines]


@pytest.mark.parametrize("loss", ["key", "membership", "role", "workspace"])
async def test_who_loses_the_right_meanwhile_gets_no_whole_archive(
    client: httpx.AsyncClient, task: str, stage: Stage, loss: str
) -> None:
    memory, workspace = stage.memory, "ws_ann"
    headers = stage.member(Role.ADMIN, workspace=workspace)
    where, membership = list(memory.memberships.items())[-1]
    agents = MemoryAgents.list

    async def lose_right(self: MemoryAgents, owner: str, name: str) -> Any:
        stage.clock.turn(1)
        if loss == "key":
            memory.keys.pop(keys.digest_key(headers["Authorization"].removeprefix("Bearer ")))
        elif loss == "membership":
            del memory.memberships[where]
        elif loss == "role":
            memory.memberships[where] = replace(membership, role=Role.VIEWER)
        else:
            memory.workspaces[workspace] = replace(memory.workspaces[workspace], state=WorkspaceState.DELETING)
        return await agents(self, owner, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryAgents, "list", lose_right)
        answer = await client.get(URL.format(workspace), headers=headers)
    assert answer.status_code == 200
    with pytest.raises(ArchiveError, match="cut short"):
        read_archive(io.BytesIO(answer.content))
    assert "export.broken_off" in [line[0] for line in stage.log.lines]
    assert not memory.streams["export:ann"]
