"""Races at every bound: however many come at once, exactly as many are let in as there is room for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.halt import BY_OWNER
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import TASK_BYTES_MAX, TOOLS_PER_TASK_MAX
from ferryman.domain.workspaces.names import derive_default_workspace

from .conftest import Stores
from .test_clusters import PET
from .test_connections import begun
from .values import ENTRY, EXECUTION, LEASE, NOW, OPENING, OWNER, POLICY, TASK, build_sealed

ROUNDS = 3
ATTEMPTS = 12
SECOND = timedelta(seconds=1)
DEFAULT = {"workspace": "", "agent": ""}
CRON = Schedule(type=ScheduleType.CRON, cron="0 * * * *")


async def at_once(attempts: Iterable[Awaitable[Any]]) -> list[Any]:
    """Run all attempts at once, and return their results or exceptions."""
    return await asyncio.gather(*attempts, return_exceptions=True)


def let_in(outcomes: Iterable[Any], refused: type[Exception] | tuple[type[Exception], ...]) -> int:
    """Count the attempts that succeeded; every other must have failed with `refused`."""
    wrong = [outcome for outcome in outcomes if isinstance(outcome, BaseException) and not isinstance(outcome, refused)]
    assert wrong == []
    return sum(not isinstance(outcome, BaseException) for outcome in outcomes)


def task(number: int, **fields: Any) -> Task:
    return replace(TASK, id=f"task_{number}", **fields)


@pytest.mark.parametrize("stored", [CREDENTIALS_PER_TASK_MAX - 1, CREDENTIALS_PER_TASK_MAX - 4])
async def test_credentials_of_a_task(stores: Stores, stored: int) -> None:
    for round_ in range(ROUNDS):
        of = f"task_{round_}"
        await stores.tasks.create(replace(TASK, id=of))
        for number in range(stored):
            await stores.credentials.put(build_sealed(name=f"HELD_{number}", task=of))
        outcomes = await at_once(
            stores.credentials.put(build_sealed(name=f"NEW_{number}", task=of)) for number in range(ATTEMPTS)
        )
        assert let_in(outcomes, LimitReachedError) == CREDENTIALS_PER_TASK_MAX - stored
        assert len(await stores.credentials.list(of)) == CREDENTIALS_PER_TASK_MAX


async def test_a_credential_that_is_there_is_stored_again_at_the_bound(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for number in range(2):
        await stores.credentials.put(build_sealed(name=f"C{number}"), most=2)
    await stores.credentials.put(build_sealed(2, name="C1"), most=2)
    with pytest.raises(LimitReachedError, match="a task may have at most 2 credentials"):
        await stores.credentials.put(build_sealed(name="C2"), most=2)


async def test_one_is_let_in_where_one_was_deleted(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(name="A"), most=1)
    await stores.credentials.delete(TASK.id, "A", now=NOW)
    outcomes = await at_once(stores.credentials.put(build_sealed(name=f"NEW_{number}"), most=1) for number in range(ATTEMPTS))
    assert let_in(outcomes, LimitReachedError) == 1


async def test_of_those_who_store_the_same_credential_one_does(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for round_ in range(ROUNDS):
        outcomes = await at_once(stores.credentials.put(build_sealed(round_ + 1)) for _ in range(ATTEMPTS))
        assert let_in(outcomes, StaleError) == 1


async def test_tasks_of_an_owner(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        fields = {"owner": f"owner_{round_}", **DEFAULT}
        await stores.tasks.create(task(1000 * round_, **fields), most=5)
        outcomes = await at_once(stores.tasks.create(task(1000 * round_ + n, **fields), most=5) for n in range(1, ATTEMPTS))
        assert let_in(outcomes, LimitReachedError) == 4
        assert len((await stores.tasks.list(derive_default_workspace(f"owner_{round_}"))).items) == 5


async def test_the_tasks_of_others_do_not_count(stores: Stores) -> None:
    for number in range(3):
        await stores.tasks.create(task(number, owner=f"owner_{number}", **DEFAULT), most=1, scheduled=1)
    with pytest.raises(LimitReachedError, match="an owner may have at most 1 tasks"):
        await stores.tasks.create(task(9, owner="owner_1", **DEFAULT), most=1)


async def test_scheduled_tasks_of_an_owner_that_are_new(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        fields = {"owner": f"owner_{round_}", **DEFAULT, "schedule": CRON}
        outcomes = await at_once(stores.tasks.create(task(100 * round_ + n, **fields), scheduled=5) for n in range(ATTEMPTS))
        assert let_in(outcomes, LimitReachedError) == 5
        assert len((await stores.tasks.list(derive_default_workspace(f"owner_{round_}"))).items) == 5


async def test_scheduled_tasks_of_an_owner_that_get_a_schedule(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        plain = [task(100 * round_ + number, owner=f"owner_{round_}", **DEFAULT) for number in range(ATTEMPTS)]
        for stored in plain:
            await stores.tasks.create(stored)
        armed = [change_value(stored, {"schedule": CRON}, now=NOW) for stored in plain]
        outcomes = await at_once(stores.tasks.update(scheduled, ["schedule"], since=NOW, scheduled=5) for scheduled in armed)
        assert let_in(outcomes, LimitReachedError) == 5
        listed = await stores.tasks.list(derive_default_workspace(f"owner_{round_}"))
        assert sum(stored.schedule is not None for stored in listed) == 5


async def test_new_and_changed_tasks_share_the_bound_on_schedules(stores: Stores) -> None:
    plain = [task(number) for number in range(6)]
    for stored in plain:
        await stores.tasks.create(stored)
    armed = [change_value(stored, {"schedule": CRON}, now=NOW) for stored in plain]
    changes = [stores.tasks.update(scheduled, ["schedule"], since=NOW, scheduled=4) for scheduled in armed]
    news = [stores.tasks.create(task(10 + number, schedule=CRON), scheduled=4) for number in range(6)]
    assert let_in(await at_once([*changes, *news]), LimitReachedError) == 4


async def test_a_task_that_has_a_schedule_is_given_another_at_the_bound(stores: Stores) -> None:
    await stores.tasks.create(task(1, schedule=CRON), scheduled=1)
    other = change_value(task(1), {"schedule": replace(CRON, cron="30 * * * *")}, now=NOW)
    assert await stores.tasks.update(other, ["schedule"], since=NOW, scheduled=1) is True
    off = change_value(other, {"schedule": None}, now=NOW)
    assert await stores.tasks.update(off, ["schedule"], since=other.updated_at, scheduled=0) is True


async def test_of_those_who_change_a_task_from_the_same_state_one_does(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        await stores.tasks.create(task(round_))
        changes = [
            change_value(task(round_), {"webhook_urls": (f"https://hooks.example.com/{n}",)}, now=NOW) for n in range(ATTEMPTS)
        ]
        outcomes = await at_once(stores.tasks.update(change, ["webhook_urls"], since=NOW) for change in changes)
        assert let_in(outcomes, StaleError) == 1


async def test_turning_off_and_another_change_from_the_same_state(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        await stores.tasks.create(task(round_))
        off = change_value(task(round_), {"enabled": False}, now=NOW)
        named = change_value(task(round_), {"name": "new", "enabled": True}, now=NOW)
        outcomes = await at_once(
            [
                stores.tasks.update(off, ["enabled"], since=NOW),
                *(stores.tasks.update(named, ["name", "enabled"], since=NOW) for _ in range(3)),
            ]
        )
        assert let_in(outcomes, StaleError) == 1


async def test_connections_under_way(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        await stores.tasks.create(task(round_))
        label = replace(begun().label, task=f"task_{round_}")
        many = [replace(begun(f"{number:064x}"), label=label) for number in range(ATTEMPTS)]
        outcomes = await at_once(stores.connections.put(connection, now=NOW, most=5) for connection in many)
        assert let_in(outcomes, StaleError) == 5


async def test_tools_of_a_task_over_all_its_clusters(stores: Stores) -> None:
    half = TOOLS_PER_TASK_MAX // 2
    for round_ in range(ROUNDS):
        await stores.tasks.create(task(round_))
        several = [[replace(PET, name=f"t{part}_{number}") for number in range(half)] for part in range(4)]
        puts = (stores.clusters.put(f"task_{round_}", f"c{part}", tools, since=0) for part, tools in enumerate(several))
        assert let_in(await at_once(puts), InvalidInputError) == 2
        assert len(await stores.clusters.tools(f"task_{round_}")) == 2 * half


async def test_bytes_of_a_tasks_tools_over_all_its_clusters(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    large = [replace(PET, body="x" * 60_000)] * (TASK_BYTES_MAX // 3 // 62_000)
    several = [[replace(tool, name=f"t{part}_{n}") for n, tool in enumerate(large)] for part in range(5)]
    puts = (stores.clusters.put(TASK.id, f"c{part}", tools, since=0) for part, tools in enumerate(several))
    assert let_in(await at_once(puts), InvalidInputError) == 3


async def test_a_tools_name_over_all_clusters(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        await stores.tasks.create(task(round_))
        outcomes = await at_once(stores.clusters.put(f"task_{round_}", f"c{n}", [PET], since=0) for n in range(ATTEMPTS))
        assert let_in(outcomes, InvalidInputError) == 1


async def test_a_cluster_that_was_deleted_and_stored_again_is_not_the_one_that_was_read(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    read = await stores.clusters.put(TASK.id, "pets", [PET], since=0)
    await stores.clusters.delete(TASK.id, "pets")
    await stores.clusters.put(TASK.id, "pets", [replace(PET, name="cat")], since=0)
    with pytest.raises(StaleError):
        await stores.clusters.put(TASK.id, "pets", [PET], since=read.generation)
    assert [tool.name for tool in await stores.clusters.tools(TASK.id)] == ["cat"]


async def test_of_those_who_delete_a_cluster_one_is_told_that_it_was_there(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for _ in range(ROUNDS):
        await stores.clusters.put(TASK.id, "pets", [PET], since=0)
        outcomes = await at_once(stores.clusters.delete(TASK.id, "pets") for _ in range(4))
        assert sorted(outcomes) == [False, False, False, True]


async def test_credits_of_an_owner(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    opening = replace(OPENING, max_credits=POLICY.plan.credits_per_month / 2)
    executions = []
    for number in range(POLICY.plan.executions_running):
        await stores.executions.start(replace(EXECUTION, id=f"exec_{number}"), most=ATTEMPTS)
        executions.append((await stores.executions.claim(f"exec_{number}", slice=0, holder="h", now=NOW, lease=LEASE))[0])
    assert len(executions) > 2
    opens = (
        stores.executions.open(
            replace(execution, policy=POLICY), opening, entry=replace(ENTRY, id=f"entry_{execution.id}"), now=NOW
        )
        for execution in executions
    )
    assert let_in(await at_once(opens), InsufficientCreditsError) == 2


async def test_an_execution_that_is_cancelled_by_several_ends_once(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.executions.start(EXECUTION, most=ATTEMPTS)
    outcomes = await at_once(stores.executions.cancel(EXECUTION.id, by="owner", now=NOW + n * SECOND) for n in range(4))
    assert {outcome.status for outcome in outcomes} == {Status.KILLED}
    assert len({outcome.completed_at for outcome in outcomes}) == 1


async def test_queued_executions_of_an_owner(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        of = task(round_, owner=f"owner_{round_}", **DEFAULT)
        await stores.tasks.create(of)
        many = [replace(EXECUTION, id=f"exec_{round_}_{n}", task=of.id, owner=of.owner) for n in range(ATTEMPTS)]
        outcomes = await at_once(stores.executions.start(execution, most=5) for execution in many)
        assert let_in(outcomes, TooManyQueuedError) == 5


async def test_a_switch_that_goes_on_while_it_is_let_go_is_one_or_the_other(stores: Stores) -> None:
    for round_ in range(ROUNDS):
        owner = f"owner_{round_}"
        await stores.halts.put(owner, on=True, now=NOW)
        both = (stores.halts.put(owner, on=on, now=NOW + SECOND) for on in (False, True))
        assert await at_once(both) == [None, None]
        assert await stores.halts.find_halt_reason(owner, created=NOW) == BY_OWNER  # what was there before ends either way


@pytest.fixture
def unheard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first commit of a transaction is made, and its client told to try again."""
    from google.api_core.exceptions import Aborted
    from google.cloud.firestore_v1.async_transaction import AsyncTransaction

    commit, heard = AsyncTransaction._commit, list[bool]()

    async def once(self: AsyncTransaction) -> None:
        await commit(self)
        heard.append(True)
        if len(heard) == 1:
            raise Aborted("the answer is lost")

    monkeypatch.setattr(AsyncTransaction, "_commit", once)


@pytest.mark.usefixtures("unheard")
async def test_the_last_task_is_not_refused_for_its_own_sake(stores: Stores) -> None:
    await stores.tasks.create(replace(TASK, schedule=CRON), most=1, scheduled=1)
    assert len((await stores.tasks.list(TASK.workspace)).items) == 1


async def test_the_last_queued_execution_is_not_refused_for_its_own_sake(
    stores: Stores, request: pytest.FixtureRequest
) -> None:
    await stores.tasks.create(TASK)
    request.getfixturevalue("unheard")
    await stores.executions.start(EXECUTION, most=1)
    assert await stores.executions.get(EXECUTION.id) == EXECUTION
