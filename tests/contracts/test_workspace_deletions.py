"""What is stored in a workspace and its deletion at once: it is stored before, and deleted, or it is not stored at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.changes import change_value
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.jobs.parts import list_parts
from ferryman.domain.workspaces.agent import Agent, build_default_agent
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceGoneError, WorkspaceState
from ferryman.ports.archives import ImportedHistory

from .belongings import build_job
from .conftest import Stores
from .test_archives import HISTORY, IMPORTED, PARTS
from .test_jobs import claim, delete_all
from .test_races import ROUNDS, at_once
from .values import ENTRY, LATER, LEASE, NOW, POLICY, TASK, open_workspaces

Storing = Callable[[Stores, str], Awaitable[object]]


def store_task(stores: Stores, workspace: str) -> Awaitable[object]:
    return stores.tasks.create(replace(TASK, id=f"task_{workspace}", workspace=workspace, agent=""))


def store_agent(stores: Stores, workspace: str) -> Awaitable[object]:
    place = {"owner": "ann", "workspace": workspace}
    return stores.agents.create(Agent(id=f"agent_{workspace}", **place, name="a", created_at=NOW, updated_at=NOW))


def change_default_agent(stores: Stores, workspace: str) -> Awaitable[object]:
    default = build_default_agent("ann", workspace)
    return stores.agents.update(change_value(default, {"name": "n"}, now=NOW), ["name"], since=default.updated_at)


def store_history(stores: Stores, workspace: str, *pieces: ImportedHistory) -> Awaitable[object]:
    whole = replace(HISTORY, name=f"exec_{workspace}", execution=build_imported(workspace))
    ended = {"ended_at": NOW, "retention_days": None}
    return stores.archives.add_history(pieces or [whole], owner="ann", workspace=workspace, **ended)


def store_conversation(stores: Stores, workspace: str) -> Awaitable[object]:
    place = {"owner": "ann", "workspace": workspace, "agent": derive_default_agent(workspace)}
    return stores.conversations.create(Conversation(id=f"chat_{workspace}", task="t", created_at=NOW, updated_at=NOW, **place))


def build_imported(workspace: str) -> object:
    return replace(IMPORTED, id=f"exec_{workspace}", workspace=workspace)


def store_policy(stores: Stores, workspace: str) -> Awaitable[object]:
    return store_history(stores, workspace, ImportedHistory(name=f"exec_{workspace}", policy=POLICY))


def store_steps(stores: Stores, workspace: str) -> Awaitable[object]:
    piece = ImportedHistory(name=f"exec_{workspace}", parts=ExecutionParts(steps=PARTS.steps))
    return store_history(stores, workspace, piece)


def store_entries(stores: Stores, workspace: str) -> Awaitable[object]:
    piece = ImportedHistory(name=f"exec_{workspace}", parts=ExecutionParts(entries=[ENTRY]))
    return store_history(stores, workspace, piece)


NEW: tuple[Storing, ...] = (store_task, store_agent, change_default_agent, store_conversation, store_history)
PARTIAL: tuple[Storing, ...] = (store_policy, store_steps, store_entries)
"""What only follows history that is there."""


async def list_left(stores: Stores, workspace: str) -> list[object]:
    """Return what of all that is stored in the workspace, or below its execution."""
    name = f"exec_{workspace}"
    agents = await stores.agents.list("ann", workspace)
    return [
        *await stores.tasks.list(workspace),
        *await stores.conversations.list("ann", workspace),
        *(agent for agent in agents if agent != build_default_agent("ann", workspace)),
        *filter(None, [await stores.executions.get(name), await stores.executions.opening(name)]),
        *await stores.executions.steps(name),
        *await stores.executions.tickets(name),
        *await stores.executions.receipts(name),
        *await stores.archives.list_entries(name),
    ]


@pytest.mark.parametrize("store", NEW)
async def test_it_is_stored_in_a_workspace_that_is_there(stores: Stores, store: Storing) -> None:
    await open_workspaces(stores, "ws_1")
    await store(stores, "ws_1")
    assert await list_left(stores, "ws_1") != []


@pytest.mark.parametrize("store", [*NEW, *PARTIAL])
async def test_nothing_is_stored_in_a_workspace_that_is_not_there(stores: Stores, store: Storing) -> None:
    with pytest.raises(WorkspaceGoneError):
        await store(stores, "ws_1")
    assert await list_left(stores, "ws_1") == []


@pytest.mark.parametrize("store", [*NEW, *PARTIAL])
async def test_nothing_is_stored_in_a_workspace_of_somebody_else(stores: Stores, store: Storing) -> None:
    await stores.workspaces.create(Workspace(id="ws_1", owner="bob", name="w", created_at=NOW, updated_at=NOW))
    with pytest.raises(WorkspaceGoneError):
        await store(stores, "ws_1")
    assert await list_left(stores, "ws_1") == []


@pytest.mark.parametrize("most", [1, 50])
async def test_while_a_workspace_is_deleted_nothing_comes_to_it(stores: Stores, most: int) -> None:
    importing = Workspace(id="ws_1", owner="ann", name="w", state=WorkspaceState.IMPORTING, created_at=NOW, updated_at=NOW)
    await stores.workspaces.create(importing)
    for store in NEW:
        await store(stores, "ws_1")
    job = await claim(stores)

    async def attempt() -> None:
        known = len(await list_left(stores, "ws_1"))
        for outcome in [(await at_once([store(stores, "ws_1")]))[0] for store in (store_history, *PARTIAL)]:
            assert type(outcome) is WorkspaceGoneError
        assert len(await list_left(stores, "ws_1")) == known

    await attempt()
    for part in list_parts(job.kind):
        more = True
        while more:
            deleted = await stores.job_work.delete(job, part, most=most, now=LATER, lease=LEASE)
            job, more = deleted.job, deleted.more
            await attempt()
    assert await list_left(stores, "ws_1") == []
    await stores.job_work.finish(job, None, now=LATER)
    for store in (*NEW, *PARTIAL):
        with pytest.raises(WorkspaceGoneError):
            await store(stores, "ws_1")
    assert await list_left(stores, "ws_1") == []


@pytest.mark.parametrize("store", NEW)
async def test_what_is_stored_as_its_workspace_is_deleted_never_outlives_the_deletion(stores: Stores, store: Storing) -> None:
    for number in range(ROUNDS):
        workspace = f"ws_{number}"
        await open_workspaces(stores, workspace)
        job = build_job(id=f"job_{number}", workspace=workspace, subject=workspace)
        started, stored = await at_once([stores.jobs.start(job), store(stores, workspace)])
        assert started is None
        assert not isinstance(stored, BaseException) or type(stored) is WorkspaceGoneError
        await stores.job_work.finish(await delete_all(stores, await claim(stores, job), most=50), None, now=LATER)
        assert await list_left(stores, workspace) == []
