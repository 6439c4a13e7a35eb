"""Retention: an execution goes with all that is below it, some days after its end and never before; money and keys stay."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from ferryman.domain import ledger
from ferryman.domain.execution import Execution, Status
from ferryman.domain.receipt import Head, Kind
from ferryman.gcp import places
from ferryman.gcp.clients import Clients
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.retention import EXPIRE_AT, Retention
from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.ports import Ending
from ferryman.settings import Settings, read
from ferryman.wiring.local.holdings import documents
from tests.doors.values import (
    ENTRY,
    EXECUTION,
    LEASE,
    NOW,
    OPENING,
    OWNER,
    REMIT,
    RESULT,
    TASK,
    receipts,
    sealed,
    summons,
    turn,
)
from tests.emulator.firestore.conftest import Clock, Served, serving

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
KEPT = Retention(kept=30 * DAY, patience=6 * HOUR)
DONE = Ending(status=Status.COMPLETED, output="done")
STAYS = {"owners", "tasks", "credentials", "purses", "ledger"}


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    served: Served
    clients: Clients
    clock: Clock

    def executions(self, retention: Retention = KEPT) -> FirestoreExecutions:
        return FirestoreExecutions(self.clients, retention)

    async def times(self) -> dict[str, datetime | None]:
        """When each document may go."""
        return {path: fields.get(EXPIRE_AT) for path, fields in await documents(self.clients)}

    async def at(self, moment: datetime) -> set[str]:
        """The collections that still hold something once the database has deleted what was due by `moment`."""
        self.clock.now = moment
        await self.served.firestore.expire()
        return {path.split("/")[-2] for path, fields in await documents(self.clients) if fields}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    clock = Clock()
    clock.now = NOW
    async with serving(clock=clock, indexes=INDEXES) as served:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("FIRESTORE_EMULATOR_HOST", served.address)
            clients = Clients(Settings(project="p", firestore_host=served.address))
            clients.firestore()
        yield House(served=served, clients=clients, clock=clock)
        await clients.close()


async def under_way(house: House, executions: FirestoreExecutions) -> Execution:
    """An execution in the middle of a turn: one call is settled, one on its way."""
    await FirestoreOwners(house.clients).put(OWNER)
    await FirestoreTasks(house.clients).create(TASK)
    await FirestoreCredentials(house.clients).put(sealed())
    await executions.create(EXECUTION)
    execution, _ = await executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    opened, head = receipts(Head(), Kind.OPENED)
    execution = replace(execution, remit=REMIT, events=1, receipts=head)
    await executions.open(execution, OPENING, entry=ENTRY, receipts=opened, now=NOW)
    planned, head = receipts(head, Kind.PLANNED, Kind.PLANNED)
    held = replace(execution, receipts=head, credits_reserved=Decimal(100))
    held = await executions.commit(held, replace(turn(), receipts=planned), now=NOW, lease=LEASE)
    tickets = FirestoreTickets(house.clients)
    for seq in (0, 1):
        errand = await tickets.claim(summons(seq), tool="api_call", now=NOW)
        if not seq:
            await tickets.settle(errand, RESULT, now=NOW)
    return held


async def ended(house: House, executions: FirestoreExecutions, at: datetime) -> None:
    execution = await under_way(house, executions)
    closed, head = receipts(execution.receipts, Kind.CLOSED)
    execution = replace(await executions.renew(execution, now=NOW, lease=at + HOUR - NOW), receipts=head)
    entry = ledger.released(execution, tokens=Decimal(1), fees=Decimal(0), rest=Decimal(99), at=at)
    await executions.finish(execution, replace(DONE, entry=entry, receipts=closed), now=at)


async def test_an_ended_execution_goes_with_all_that_is_below_it_and_nothing_else_does(house: House) -> None:
    await ended(house, house.executions(), NOW + HOUR)
    everything = STAYS | {"executions", "steps", "calls", "receipts"}
    assert await house.at(NOW + 30 * DAY) == everything
    assert await house.at(NOW + HOUR + 30 * DAY) == everything - {"executions"}
    assert await house.at(NOW + 6 * HOUR + 30 * DAY) == STAYS


async def test_every_document_of_an_execution_is_told_its_time_and_has_a_policy(house: House) -> None:
    await ended(house, house.executions(), NOW + HOUR)
    told = {path.split("/")[-2] for path, at in (await house.times()).items() if at is not None}
    below = {path.split("/")[-2] for path in await house.times() if path.startswith("executions/")}
    policies = [each for each in json.loads(INDEXES.read_text())["fieldOverrides"] if each.get("ttl")]
    assert (
        told == below == {each["collectionGroup"] for each in policies} - {"tokens", "connections"}
    )  # which run out by themselves
    assert {each["fieldPath"] for each in policies} == {EXPIRE_AT}
    assert [path for path, at in (await house.times()).items() if path.startswith("executions/") and at is None] == []


async def test_nothing_goes_while_an_execution_may_still_take_a_turn(house: House) -> None:
    short = Retention(kept=timedelta(seconds=1), patience=6 * HOUR)
    await under_way(house, house.executions(short))
    before = await house.times()
    await house.at(NOW + 6 * HOUR)
    assert await house.times() == before


async def test_an_execution_that_never_ended_is_kept(house: House) -> None:
    await under_way(house, house.executions())
    assert "executions" in await house.at(NOW + 3_650 * DAY)


async def test_one_that_ends_long_after_it_might_have_keeps_its_end_as_long_as_any(house: House) -> None:
    late = NOW + 20 * DAY
    await ended(house, house.executions(), late)
    times = await house.times()
    assert times["executions/exec_1"] == late + 30 * DAY
    assert times["executions/exec_1/receipts/000003"] == late + 30 * DAY


async def test_a_queued_execution_waits_as_long_as_it_has_to_and_goes_after_its_cancel(house: House) -> None:
    executions = house.executions()
    await executions.create(EXECUTION)
    late = NOW + 400 * DAY
    assert await house.at(late) == {"executions"}
    await executions.cancel("exec_1", now=late)
    assert await house.at(late + 30 * DAY - HOUR) == {"executions"}
    assert await house.at(late + 30 * DAY) == set()


async def test_a_cancel_of_one_that_runs_tells_no_time_yet(house: House) -> None:
    executions = house.executions()
    await under_way(house, executions)
    await executions.cancel("exec_1", now=NOW)
    assert (await house.times())["executions/exec_1"] is None


async def test_an_execution_that_cannot_be_read_goes_too(house: House) -> None:
    await places.execution(house.clients.firestore(), "exec_1").set({"id": 7})
    await house.executions().claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    assert (await house.times())["executions/exec_1"] == NOW + 30 * DAY


async def test_kept_for_ever_no_document_is_told_a_time(house: House) -> None:
    await ended(house, house.executions(Retention.of(Settings(retention_days=0))), NOW + HOUR)
    assert set((await house.times()).values()) == {None}


def test_the_setting_says_how_many_days_and_the_longest_run_how_many_more() -> None:
    told = Retention.of(read({"FERRYMAN_RETENTION_DAYS": "7", "FERRYMAN_EXECUTION_S": "60"}))
    assert told == Retention(kept=7 * DAY, patience=timedelta(minutes=1))
