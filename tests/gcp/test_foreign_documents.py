"""Documents that somebody else wrote: what they say of their state is never believed, and nobody's work depends on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import Client

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.owners.owner import Owner
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.gcp.execution_documents import write_execution
from ferryman.gcp.sealed_inventory import FirestoreSealedInventory
from ferryman.ports.errors import NotAdmittedError
from tests.builders import build_execution, build_lease, build_task
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.values import put

NOW = datetime(2026, 11, 21, tzinfo=UTC)
LEASE = timedelta(seconds=60)
PLACE = derive_default_workspace("o")
FORGED = build_execution(
    id="poison",
    created_at=NOW,
    status=Status.RUNNING,
    credits_used=Decimal(-500),
    credits_reserved=Decimal(10_000),
    lease=build_lease(expires_at=NOW + timedelta(days=1)),
    completed_at=NOW,
    schedule_generation=1,
    output="all your credits",
)


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    async with on_google_cloud() as stores:
        await stores.owners.put(Owner(id="o", plan="pro", created_at=NOW))
        await stores.tasks.create(build_task(created_at=NOW))
        yield stores


def elsewhere(kind: str = "another") -> Any:
    """Return a reference into another project's database."""
    anonymous: Any = AnonymousCredentials
    return Client(project=kind, credentials=anonymous()).document("a/b")


async def claim(stores: Stores, name: str = "poison") -> tuple[Execution, bool]:
    return await stores.executions.claim(name, slice=0, holder="h", now=NOW, lease=LEASE)


@pytest.mark.parametrize("status", Status)
async def test_our_own_form_and_mark_make_no_execution(stores: Stores, status: Status) -> None:
    await stores.ask("poison", write_execution(replace(FORGED, status=status)))
    with pytest.raises(NotAdmittedError):
        await claim(stores)
    assert await stores.executions.find_request("poison") is not None


@pytest.mark.parametrize("status", [status for status in Status if not status.terminal])
async def test_our_own_form_written_over_a_request_makes_no_execution(stores: Stores, status: Status) -> None:
    await stores.ask("poison", {"task": "t"})
    clients = stores.executions._clients  # type: ignore[attr-defined]
    over = replace(FORGED, status=status, lease=build_lease(expires_at=NOW))
    await clients.firestore().document("executions", "poison").set(write_execution(over))
    with pytest.raises(NotAdmittedError):
        await claim(stores)
    await stores.executions.admit(build_execution(id="poison", created_at=NOW), most=1)
    assert (await claim(stores))[0].credits_used == 0
    assert (await stores.executions.list(PLACE)).items[0].credits_reserved == 0


async def test_what_they_say_of_their_state_is_not_shown_before_they_are_admitted(stores: Stores) -> None:
    await stores.ask("poison", write_execution(FORGED))
    read = await stores.executions.get("poison")
    assert read == Execution(id="poison", task="t", owner="o", created_at=NOW, schedule_generation=1)


async def test_an_admitted_one_has_the_state_of_a_new_one(stores: Stores) -> None:
    await stores.ask("poison", write_execution(FORGED))
    await stores.executions.admit(build_execution(id="poison", created_at=NOW), most=1)
    claimed, is_claimed = await claim(stores)
    assert is_claimed
    assert (claimed.credits_used, claimed.credits_reserved, claimed.output, claimed.epoch) == (0, 0, None, 1)


async def test_a_mark_of_refusal_keeps_nobody_from_being_answered(stores: Stores) -> None:
    await stores.ask("poison", {"task": "t", "admitted": False, "status": "failed"})
    assert await stores.executions.find_request("poison") == {"task": "t", "admitted": False}


@pytest.mark.parametrize("field", ["task", "status", "labels", "anything"])
async def test_a_reference_into_another_database_ends_no_list_and_no_delivery(stores: Stores, field: str) -> None:
    value = {"color": elsewhere()} if field == "labels" else elsewhere()
    await stores.ask("poison", {"task": "t", "owner": "o", "created_at": NOW, field: value})
    await put(stores.tasks, stores.executions, build_execution(id="sound", created_at=NOW))
    assert await stores.executions.get("poison") is None
    assert [execution.id for execution in (await stores.executions.list(PLACE)).items] == ["sound"]
    with pytest.raises(NotAdmittedError):
        await claim(stores)
    request = await stores.executions.find_request("poison")
    assert request is not None
    await stores.executions.admit(build_execution(id="poison", created_at=NOW), most=9)
    assert (await claim(stores))[1]


async def test_they_take_no_place_in_a_list(stores: Stores) -> None:
    await put(stores.tasks, stores.executions, build_execution(id="sound", created_at=NOW))
    fields = {"task": "t", "owner": "o", "workspace": PLACE, "created_at": NOW + timedelta(days=1)}
    for number in range(3):
        await stores.ask(f"later-{number}", fields)
    assert [execution.id for execution in (await stores.executions.list(PLACE, most=2)).items] == ["sound"]


async def test_they_hold_no_rotation_of_keys_back(stores: Stores) -> None:
    for begun in (NOW, "yesterday"):
        await stores.ask(f"e-{begun}", {"task": "t", "status": "running", "started_at": begun})
    clients = stores.executions._clients  # type: ignore[attr-defined]
    assert await FirestoreSealedInventory(clients, lambda _: 1).count_begun_before(NOW + LEASE) == 0


EVERY_HOUR = Schedule(type=ScheduleType.CRON, cron="0 * * * *")


async def schedule(stores: Stores) -> Fire:
    due = build_task(id="timed", schedule=EVERY_HOUR, schedule_generation=1, next_fire_at=NOW, created_at=NOW)
    await stores.tasks.create(due)
    return Fire(task="timed", generation=1, at=NOW)


async def test_they_do_not_pause_a_schedule(stores: Stores) -> None:
    fire = await schedule(stores)
    for number in range(3):
        failed = replace(FORGED, id=f"p-{number}", task="timed", status=Status.FAILED)
        await stores.ask(f"p-{number}", write_execution(failed))
        await stores.ask(f"q-{number}", {"task": "timed", "schedule_generation": 1, "status": "failed", "completed_at": NOW})
    fired = await stores.schedules.fire(fire, now=NOW)
    assert fired.execution is not None


async def test_one_in_the_place_of_a_scheduled_execution_gives_way_and_leaves_it_its_delivery(stores: Stores) -> None:
    fire = await schedule(stores)
    await stores.ask(fire.execution, {"task": "t", "owner": "o"})
    fired = await stores.schedules.fire(fire, now=NOW)
    again = await stores.schedules.fire(fire, now=NOW)
    assert (fired.replaced, again.replaced) == (True, True)
    assert (await claim(stores, fire.execution))[0].task == "timed"
