"""Contexts: what an execution starts from is read at once, and nothing of another owner or workspace is in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, build_default_workspace
from ferryman.ports.contexts import ContextDocuments

from .conftest import Stores
from .test_agents import AGENT
from .test_people import join
from .values import NOW, OWNER, TASK

PLACE = derive_default_workspace("ann")
CONTEXT = ExecutionContext(
    user="ann", owner="ann", workspace=PLACE, agent=derive_default_agent(PLACE), task="task_1", execution="exec_1"
)


async def test_the_defaults_are_there_without_being_stored(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    assert await stores.contexts.read(CONTEXT) == ContextDocuments(
        owner=OWNER, workspace=build_default_workspace("ann"), agent=build_default_agent("ann", PLACE), task=TASK
    )


async def test_what_is_stored_is_read(stores: Stores) -> None:
    workspace = Workspace(id="ws_1", owner="ann", name="n", created_at=NOW, updated_at=NOW)
    task = replace(TASK, workspace="ws_1", agent=AGENT.id)
    await stores.owners.put(OWNER)
    await stores.workspaces.create(workspace)
    await stores.agents.create(AGENT)
    await stores.tasks.create(task)
    context = await stores.contexts.read(replace(CONTEXT, workspace="ws_1", agent=AGENT.id))
    assert context == ContextDocuments(owner=OWNER, workspace=workspace, agent=AGENT, task=task)


async def test_what_does_not_exist_is_not_there(stores: Stores) -> None:
    context = replace(CONTEXT, workspace="ws_2", agent="agent_2")
    assert await stores.contexts.read(context) == ContextDocuments(owner=None, workspace=None, agent=None, task=None)


@pytest.mark.parametrize("change", [{"owner": "bob"}, {"workspace": "ws_2"}])
async def test_what_belongs_to_another_owner_or_workspace_is_not_there(stores: Stores, change: dict[str, str]) -> None:
    await stores.workspaces.create(Workspace(id="ws_1", owner="ann", name="n", created_at=NOW, updated_at=NOW))
    await stores.agents.create(AGENT)
    await stores.tasks.create(replace(TASK, workspace="ws_1", agent=AGENT.id))
    context = await stores.contexts.read(replace(CONTEXT, **{"workspace": "ws_1", "agent": AGENT.id, **change}))
    assert (context.workspace, context.agent, context.task) == (None, None, None)


async def test_the_membership_is_that_of_who_started_the_execution_there(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    member = await join(stores, "eve")
    here = replace(CONTEXT, workspace=member.workspace, user=member.person)
    assert (await stores.contexts.read(here)).member == member
    for other in (replace(here, user="ann"), replace(here, workspace="ws_other"), replace(here, owner="bob")):
        assert (await stores.contexts.read(other)).member is None
