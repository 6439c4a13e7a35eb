"""Races at every bound: however many come at once, exactly as many are let in as there is room for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX
from ferryman.domain.credits.balance import InsufficientCreditsError
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.halt import BY_OWNER
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tasks.task import Task, change_task
from ferryman.domain.tools.declared import TASK_BYTES_MAX, TOOLS_PER_TASK_MAX

from .conftest import Doors
from .test_clusters import PET
from .test_connections import begun
from .values import ENTRY, EXECUTION, LEASE, NOW, OPENING, OWNER, POLICY, TASK, sealed

ROUNDS = 3
ATTEMPTS = 12
SECOND = timedelta(seconds=1)
CRON = Schedule(type=ScheduleType.CRON, cron="0 * * * *")


async def at_once(attempts: Iterable[Awaitable[Any]]) -> list[Any]:
    """What came of each attempt, its exception included."""
    return await asyncio.gather(*attempts, return_exceptions=True)


def let_in(came: Iterable[Any], refused: type[Exception] | tuple[type[Exception], ...]) -> int:
    """How many were let in; every other was refused, and for no other reason."""
    wrong = [each for each in came if isinstance(each, BaseException) and not isinstance(each, refused)]
    assert wrong == []
    return sum(not isinstance(each, BaseException) for each in came)


def task(number: int, **fields: Any) -> Task:
    return replace(TASK, id=f"task_{number}", **fields)


@pytest.mark.parametrize("held", [CREDENTIALS_PER_TASK_MAX - 1, CREDENTIALS_PER_TASK_MAX - 4])
async def test_credentials_of_a_task(doors: Doors, held: int) -> None:
    for round_ in range(ROUNDS):
        of = f"task_{round_}"
        await doors.tasks.create(replace(TASK, id=of))
        for number in range(held):
            await doors.credentials.put(sealed(name=f"HELD_{number}", task=of))
        came = await at_once(doors.credentials.put(sealed(name=f"NEW_{number}", task=of)) for number in range(ATTEMPTS))
        assert let_in(came, LimitReachedError) == CREDENTIALS_PER_TASK_MAX - held
        assert len(await doors.credentials.list(of)) == CREDENTIALS_PER_TASK_MAX


async def test_a_credential_that_is_there_is_stored_anew_at_the_bound(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for number in range(2):
        await doors.credentials.put(sealed(name=f"C{number}"), most=2)
    await doors.credentials.put(sealed(2, name="C1"), most=2)
    with pytest.raises(LimitReachedError, match="a task may have at most 2 credentials"):
        await doors.credentials.put(sealed(name="C2"), most=2)


async def test_one_is_let_in_where_one_was_deleted(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(name="A"), most=1)
    await doors.credentials.delete(TASK.id, "A", now=NOW)
    came = await at_once(doors.credentials.put(sealed(name=f"NEW_{number}"), most=1) for number in range(ATTEMPTS))
    assert let_in(came, LimitReachedError) == 1


async def test_of_those_who_store_the_same_credential_one_does(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for round_ in range(ROUNDS):
        came = await at_once(doors.credentials.put(sealed(round_ + 1)) for _ in range(ATTEMPTS))
        assert let_in(came, StaleError) == 1


async def test_tasks_of_an_owner(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        own = {"owner": f"owner_{round_}"}
        await doors.tasks.create(task(1000 * round_, **own), most=5)
        came = await at_once(doors.tasks.create(task(1000 * round_ + n, **own), most=5) for n in range(1, ATTEMPTS))
        assert let_in(came, LimitReachedError) == 4
        assert len(await doors.tasks.list(own["owner"])) == 5


async def test_the_tasks_of_others_do_not_count(doors: Doors) -> None:
    for number in range(3):
        await doors.tasks.create(task(number, owner=f"owner_{number}"), most=1, scheduled=1)
    with pytest.raises(LimitReachedError, match="an owner may have at most 1 tasks"):
        await doors.tasks.create(task(9, owner="owner_1"), most=1)


async def test_scheduled_tasks_of_an_owner_that_are_new(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        own = {"owner": f"owner_{round_}", "schedule": CRON}
        came = await at_once(doors.tasks.create(task(100 * round_ + n, **own), scheduled=5) for n in range(ATTEMPTS))
        assert let_in(came, LimitReachedError) == 5
        assert len(await doors.tasks.list(own["owner"])) == 5


async def test_scheduled_tasks_of_an_owner_that_get_a_schedule(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        plain = [task(100 * round_ + number, owner=f"owner_{round_}") for number in range(ATTEMPTS)]
        for each in plain:
            await doors.tasks.create(each)
        armed = [change_task(each, {"schedule": CRON}, now=NOW) for each in plain]
        came = await at_once(doors.tasks.update(each, ["schedule"], since=NOW, scheduled=5) for each in armed)
        assert let_in(came, LimitReachedError) == 5
        assert sum(each.schedule is not None for each in await doors.tasks.list(f"owner_{round_}")) == 5


async def test_new_and_changed_tasks_share_the_bound_on_schedules(doors: Doors) -> None:
    plain = [task(number) for number in range(6)]
    for each in plain:
        await doors.tasks.create(each)
    armed = [change_task(each, {"schedule": CRON}, now=NOW) for each in plain]
    changes = [doors.tasks.update(each, ["schedule"], since=NOW, scheduled=4) for each in armed]
    news = [doors.tasks.create(task(10 + number, schedule=CRON), scheduled=4) for number in range(6)]
    assert let_in(await at_once([*changes, *news]), LimitReachedError) == 4


async def test_a_task_that_has_a_schedule_is_given_another_at_the_bound(doors: Doors) -> None:
    await doors.tasks.create(task(1, schedule=CRON), scheduled=1)
    other = change_task(task(1), {"schedule": replace(CRON, cron="30 * * * *")}, now=NOW)
    assert await doors.tasks.update(other, ["schedule"], since=NOW, scheduled=1) is True
    off = change_task(other, {"schedule": None}, now=NOW)
    assert await doors.tasks.update(off, ["schedule"], since=other.updated_at, scheduled=0) is True


async def test_of_those_who_change_a_task_from_the_same_state_one_does(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        await doors.tasks.create(task(round_))
        changes = [
            change_task(task(round_), {"webhook_urls": (f"https://hooks.example.com/{n}",)}, now=NOW) for n in range(ATTEMPTS)
        ]
        came = await at_once(doors.tasks.update(each, ["webhook_urls"], since=NOW) for each in changes)
        assert let_in(came, StaleError) == 1


async def test_turning_off_and_another_change_from_the_same_state(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        await doors.tasks.create(task(round_))
        off = change_task(task(round_), {"enabled": False}, now=NOW)
        named = change_task(task(round_), {"name": "new", "enabled": True}, now=NOW)
        came = await at_once(
            [
                doors.tasks.update(off, ["enabled"], since=NOW),
                *(doors.tasks.update(named, ["name", "enabled"], since=NOW) for _ in range(3)),
            ]
        )
        assert let_in(came, StaleError) == 1


async def test_connections_under_way(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        await doors.tasks.create(task(round_))
        label = replace(begun().label, task=f"task_{round_}")
        many = [replace(begun(f"{number:064x}"), label=label) for number in range(ATTEMPTS)]
        came = await at_once(doors.connections.put(each, now=NOW, most=5) for each in many)
        assert let_in(came, StaleError) == 5


async def test_tools_of_a_task_over_all_its_clusters(doors: Doors) -> None:
    half = TOOLS_PER_TASK_MAX // 2
    for round_ in range(ROUNDS):
        await doors.tasks.create(task(round_))
        several = [[replace(PET, name=f"t{part}_{number}") for number in range(half)] for part in range(4)]
        puts = (doors.clusters.put(f"task_{round_}", f"c{part}", tools, since=0) for part, tools in enumerate(several))
        assert let_in(await at_once(puts), InvalidInputError) == 2
        assert len(await doors.clusters.tools(f"task_{round_}")) == 2 * half


async def test_bytes_of_a_tasks_tools_over_all_its_clusters(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    large = [replace(PET, body="x" * 60_000)] * (TASK_BYTES_MAX // 3 // 62_000)
    several = [[replace(each, name=f"t{part}_{n}") for n, each in enumerate(large)] for part in range(5)]
    puts = (doors.clusters.put(TASK.id, f"c{part}", tools, since=0) for part, tools in enumerate(several))
    assert let_in(await at_once(puts), InvalidInputError) == 3


async def test_a_tools_name_over_all_clusters(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        await doors.tasks.create(task(round_))
        came = await at_once(doors.clusters.put(f"task_{round_}", f"c{n}", [PET], since=0) for n in range(ATTEMPTS))
        assert let_in(came, InvalidInputError) == 1


async def test_a_cluster_that_was_deleted_and_stored_anew_is_not_the_one_that_was_read(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    read = await doors.clusters.put(TASK.id, "pets", [PET], since=0)
    await doors.clusters.delete(TASK.id, "pets")
    await doors.clusters.put(TASK.id, "pets", [replace(PET, name="cat")], since=0)
    with pytest.raises(StaleError):
        await doors.clusters.put(TASK.id, "pets", [PET], since=read.generation)
    assert [each.name for each in await doors.clusters.tools(TASK.id)] == ["cat"]


async def test_of_those_who_delete_a_cluster_one_is_told_that_it_was_there(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for _ in range(ROUNDS):
        await doors.clusters.put(TASK.id, "pets", [PET], since=0)
        came = await at_once(doors.clusters.delete(TASK.id, "pets") for _ in range(4))
        assert sorted(came) == [False, False, False, True]


async def test_credits_of_an_owner(doors: Doors) -> None:
    await doors.owners.put(OWNER)
    await doors.tasks.create(TASK)
    opening = replace(OPENING, max_credits=POLICY.plan.credits_per_month / 2)
    held = []
    for number in range(POLICY.plan.executions_running):
        await doors.executions.start(replace(EXECUTION, id=f"exec_{number}"), most=ATTEMPTS)
        held.append((await doors.executions.claim(f"exec_{number}", slice=0, holder="h", now=NOW, lease=LEASE))[0])
    assert len(held) > 2
    opens = (
        doors.executions.open(replace(each, policy=POLICY), opening, entry=replace(ENTRY, id=f"entry_{each.id}"), now=NOW)
        for each in held
    )
    assert let_in(await at_once(opens), InsufficientCreditsError) == 2


async def test_an_execution_that_is_cancelled_by_several_ends_once(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.executions.start(EXECUTION, most=ATTEMPTS)
    came = await at_once(doors.executions.cancel(EXECUTION.id, now=NOW + n * SECOND) for n in range(4))
    assert {each.status for each in came} == {Status.KILLED}
    assert len({each.completed_at for each in came}) == 1


async def test_queued_executions_of_an_owner(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        of = task(round_, owner=f"owner_{round_}")
        await doors.tasks.create(of)
        many = [replace(EXECUTION, id=f"exec_{round_}_{n}", task=of.id, owner=of.owner) for n in range(ATTEMPTS)]
        came = await at_once(doors.executions.start(each, most=5) for each in many)
        assert let_in(came, TooManyQueuedError) == 5


async def test_a_switch_that_goes_on_while_it_is_let_go_is_one_or_the_other(doors: Doors) -> None:
    for round_ in range(ROUNDS):
        owner = f"owner_{round_}"
        await doors.halts.put(owner, on=True, now=NOW)
        both = (doors.halts.put(owner, on=on, now=NOW + SECOND) for on in (False, True))
        assert await at_once(both) == [None, None]
        assert await doors.halts.find_halt_reason(owner, created=NOW) == BY_OWNER  # what was there before ends either way


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
async def test_the_last_task_is_not_refused_for_its_own_sake(doors: Doors) -> None:
    await doors.tasks.create(replace(TASK, schedule=CRON), most=1, scheduled=1)
    assert len(await doors.tasks.list(TASK.owner)) == 1


async def test_the_last_queued_execution_is_not_refused_for_its_own_sake(doors: Doors, request: pytest.FixtureRequest) -> None:
    await doors.tasks.create(TASK)
    request.getfixturevalue("unheard")
    await doors.executions.start(EXECUTION, most=1)
    assert await doors.executions.get(EXECUTION.id) == EXECUTION
