"""A task and the deletion of its agent at once: a task is stored before, and counted or deleted, or it is not stored at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.executions.execution import OWNER
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import list_parts
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.task import Task, TaskFilter
from ferryman.domain.workspaces.agent import Agent, AgentGoneError, AgentHasTasksError

from .belongings import build_job, fill
from .conftest import Stores
from .test_races import ROUNDS, at_once
from .values import LATER, LEASE, NOW, TASK, open_workspaces

PLACE = {"owner": "ann", "workspace": "ws_1"}
NEW = replace(TASK, id="task_new", workspace="ws_1", agent="agent_1")
GOES_TOO = "the task's agent was deleted, and the task goes with it"


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await open_workspaces(stores, "ws_1", "ws_2")
    return stores


def build_deletion(number: int = 1) -> Job:
    return build_job(JobKind.DELETE_AGENT, f"agent_{number}", id=f"job_{number}")


def build_agent(number: int = 1) -> Agent:
    return Agent(id=f"agent_{number}", **PLACE, name="a", created_at=NOW, updated_at=NOW)


async def list_tasks(stores: Stores, agent: str = "agent_1") -> list[str]:
    return [task.id for task in await stores.tasks.list("ws_1", which=TaskFilter(agent=agent))]


async def test_an_agent_that_has_a_task_stays_where_its_tasks_are_spared(stores: Stores) -> None:
    await stores.agents.create(build_agent())
    await stores.tasks.create(NEW)
    with pytest.raises(AgentHasTasksError):
        await stores.jobs.start(build_deletion(), spares_tasks=True)
    assert await stores.agents.get("agent_1", **PLACE) == build_agent()
    assert await stores.jobs.get("job_1") is None


async def test_an_agent_without_tasks_goes_where_its_tasks_are_spared(stores: Stores) -> None:
    await stores.agents.create(build_agent())
    await stores.tasks.create(replace(NEW, agent=""))
    await stores.jobs.start(build_deletion(), spares_tasks=True)
    assert await stores.agents.get("agent_1", **PLACE) is None


@pytest.mark.parametrize("agent", ["agent_nowhere", "agent_1"])
async def test_no_task_is_stored_for_an_agent_that_is_not_there(stores: Stores, agent: str) -> None:
    await stores.agents.create(replace(build_agent(), workspace="ws_2"))
    with pytest.raises(AgentGoneError):
        await stores.tasks.create(replace(NEW, agent=agent))
    assert await stores.tasks.get(NEW.id) is None


async def test_no_task_is_given_to_an_agent_that_is_not_there(stores: Stores) -> None:
    before = replace(NEW, agent="")
    await stores.tasks.create(before)
    with pytest.raises(AgentGoneError):
        await stores.tasks.update(replace(before, agent="agent_nowhere"), ["agent"], since=before.updated_at)
    assert await stores.tasks.get(NEW.id) == before


async def test_a_task_is_given_to_another_agent(stores: Stores) -> None:
    await stores.agents.create(build_agent())
    before = replace(NEW, agent="")
    await stores.tasks.create(before)
    after = replace(before, agent="agent_1", model=None)
    assert await stores.tasks.update(after, ["agent", "model"], since=before.updated_at) is True
    assert await stores.tasks.get(NEW.id) == after


async def test_a_task_and_a_deletion_that_spares_tasks_never_both_succeed(stores: Stores) -> None:
    for number in range(ROUNDS):
        task = replace(NEW, id=f"task_{number}", agent=f"agent_{number}")
        await stores.agents.create(build_agent(number))
        outcomes = await at_once([stores.jobs.start(build_deletion(number), spares_tasks=True), stores.tasks.create(task)])
        is_there = await stores.tasks.get(task.id) is not None
        assert [type(outcome) for outcome in outcomes] == [
            AgentHasTasksError if is_there else type(None),
            type(None) if is_there else AgentGoneError,
        ]
        assert (await stores.agents.get(task.agent, **PLACE) is not None) is is_there


async def test_a_task_that_is_moved_and_a_deletion_that_spares_tasks_never_both_succeed(stores: Stores) -> None:
    for number in range(ROUNDS):
        before = replace(NEW, id=f"task_{number}", agent="")
        await stores.agents.create(build_agent(number))
        await stores.tasks.create(before)
        moved = replace(before, agent=f"agent_{number}")
        await at_once(
            [
                stores.jobs.start(build_deletion(number), spares_tasks=True),
                stores.tasks.update(moved, ["agent"], since=before.updated_at),
            ]
        )
        stored = await stores.tasks.get(before.id)
        assert stored is not None
        is_there = await stores.agents.get(moved.agent, **PLACE) is not None
        assert stored.agent == (moved.agent if is_there else before.agent)


async def attempt(stores: Stores, task: Task) -> None:
    """Store a task for the agent that is being deleted, give it another's, and take its own one away: nothing of it is done."""
    with pytest.raises(AgentGoneError):
        await stores.tasks.create(NEW)
    with pytest.raises(AgentGoneError):
        await stores.tasks.update(replace(task, id="task_default", agent="agent_1"), ["agent"], since=task.updated_at)
    if await stores.tasks.get(task.id) is not None:
        with pytest.raises(StaleError, match=GOES_TOO):
            await stores.tasks.update(replace(task, agent="agent_2"), ["agent"], since=task.updated_at)


@pytest.mark.parametrize("most", [1, 3, 50])
async def test_while_an_agent_is_deleted_no_task_comes_to_it_or_leaves_it(stores: Stores, most: int) -> None:
    await fill(stores)
    await stores.agents.create(build_agent(2))
    (task,) = [await stores.tasks.get(name) for name in await list_tasks(stores)]
    assert task is not None
    await stores.tasks.create(replace(task, id="task_default", agent=""))
    await stores.jobs.start(build_deletion())
    await attempt(stores, task)
    job, _ = await stores.jobs.claim("job_1", slice=0, holder="h", now=NOW, lease=LEASE)
    job = (await stores.job_work.disable_tasks(job, most=most, now=LATER, lease=LEASE)).job
    for execution in await stores.job_work.unended(job):
        await stores.executions.cancel(execution.id, by=OWNER, now=NOW)
    for part in list_parts(job.kind):
        more = True
        while more:
            await attempt(stores, task)
            deleted = await stores.job_work.delete(job, part, most=most, now=LATER, lease=LEASE)
            job, more = deleted.job, deleted.more
    await attempt(stores, task)
    assert await list_tasks(stores) == []
    assert await stores.tasks.get("task_default") is not None
