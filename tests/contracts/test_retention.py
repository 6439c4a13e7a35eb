"""Retention of a workspace: every execution is created with the number of days that its workspace keeps it then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.executions.execution import OWNER, Execution
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.schedule import Schedule, ScheduleType

from .conftest import Stores
from .values import EXECUTION, LEASE, NOW, TASK, open_execution

ORDER = replace(EXECUTION, id="order-42")
AT = NOW.replace(microsecond=0)
DUE = replace(TASK, schedule=Schedule(type=ScheduleType.CRON, cron="0 * * * *"), next_fire_at=AT)
FIRE = Fire(task="task_1", generation=0, at=AT)


async def start(stores: Stores) -> str:
    await stores.executions.start(EXECUTION, most=1)
    return EXECUTION.id


async def admit(stores: Stores) -> str:
    await stores.ask(ORDER.id, {"task": "task_1"})
    await stores.executions.admit(ORDER, most=1)
    return ORDER.id


async def fire(stores: Stores) -> str:
    fired = await stores.schedules.fire(FIRE, now=AT)
    assert fired.execution is not None
    return fired.execution.id


Begin = Callable[[Stores], Awaitable[str]]
STARTS = pytest.mark.parametrize("begin", [start, admit, fire])


async def read(stores: Stores, name: str) -> Execution:
    execution = await stores.executions.get(name)
    assert execution is not None
    return execution


@STARTS
async def test_an_execution_is_created_with_the_retention_of_its_workspace(stores: Stores, begin: Begin) -> None:
    await stores.tasks.create(DUE)
    await stores.keep(TASK.workspace, 7)
    assert (await read(stores, await begin(stores))).retention_days == 7


@STARTS
async def test_a_workspace_without_one_leaves_it_to_the_deployment(stores: Stores, begin: Begin) -> None:
    await stores.tasks.create(DUE)
    assert (await read(stores, await begin(stores))).retention_days is None


async def test_another_workspace_changes_nothing(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.keep("ws_other", 7)
    assert (await read(stores, await start(stores))).retention_days is None


async def test_a_later_change_of_the_workspace_changes_no_execution(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.keep(TASK.workspace, 7)
    await start(stores)
    await stores.keep(TASK.workspace, 1)
    execution, _ = await stores.executions.claim(EXECUTION.id, slice=0, holder="h", now=NOW, lease=LEASE)
    assert execution.retention_days == 7


async def test_one_that_is_cancelled_before_its_setup_has_it_too(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.keep(TASK.workspace, 7)
    await start(stores)
    cancelled = await stores.executions.cancel(EXECUTION.id, by=OWNER, now=NOW + timedelta(1))
    assert cancelled is not None
    assert cancelled.retention_days == 7


async def test_it_stays_as_the_execution_goes_on(stores: Stores) -> None:
    await stores.keep(TASK.workspace, 7)
    await open_execution(stores)
    assert (await read(stores, EXECUTION.id)).retention_days == 7
