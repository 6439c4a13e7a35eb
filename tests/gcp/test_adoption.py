"""Adoption: what was stored before there were workspaces is listed, run and charged as everything else, wherever a run died."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.credits import ledger
from ferryman.domain.credits.balance import CreditPart
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.workspaces.adoption import INSTANCES_END, Adoption
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.gcp.adoption import FirestoreAdoption
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.owners import FirestoreOwners
from ferryman.ports.executions import Filter
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.values import DONE, LATER, LEASE, NOW, OPENING, POLICY

from .former_documents import read_all, store_former

WORKSPACE = derive_default_workspace("ann")
AGENT = derive_default_agent(WORKSPACE)
MARKER = "adoptions/workspaces"
PAGES_MIN = 6
"""One of the owner, one of a balance that is left, one of the task, three of the executions."""


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    async with on_google_cloud() as stores:
        await store_former(clients_of(stores))
        yield stores


def clients_of(stores: Stores) -> GoogleClients:
    assert isinstance(stores.owners, FirestoreOwners)
    clients = stores.owners._clients
    assert isinstance(clients, GoogleClients)
    return clients


async def adopt(stores: Stores, *, is_quiet: bool = True, at: datetime = NOW) -> Adoption | None:
    return await FirestoreAdoption(clients_of(stores)).run(lambda _: None, lambda: at, is_quiet=is_quiet, page=1)


async def read_adopted(stores: Stores) -> dict[str, Any]:
    """Return all documents, the adoption's own left out."""
    return {path: document for path, document in (await read_all(clients_of(stores))).items() if path != MARKER}


async def list_executions(stores: Stores, which: Filter) -> set[str]:
    return {item.id for item in (await stores.executions.list(WORKSPACE, which=which)).items}


async def open_new(stores: Stores, amount: str) -> Execution:
    """Start an execution of the task under its cap, and reserve `amount` credits for it."""
    execution = Execution(id="exec_new", task="task_1", owner="ann", created_at=NOW)
    await stores.executions.start(execution, most=10)
    claimed, _ = await stores.executions.claim("exec_new", slice=0, holder="h", now=NOW, lease=LEASE)
    caps = (Cap(kind=CapKind.TASK, id="task_1", credits=Decimal(60)),)
    opened = replace(claimed, policy=replace(POLICY, caps=caps))
    entry = ledger.record_reservation(opened, Decimal(amount), at=NOW)
    opening = replace(OPENING, max_credits=Decimal(amount))
    await stores.executions.open(opened, opening, entry=entry, now=NOW)
    return replace(opened, credits_reserved=Decimal(amount))


async def test_a_task_of_before_is_listed(stores: Stores) -> None:
    assert (await stores.tasks.list(WORKSPACE)).items == ()
    await adopt(stores)
    assert [task.id for task in (await stores.tasks.list(WORKSPACE)).items] == ["task_1"]


@pytest.mark.parametrize("which", [Filter(), Filter(agent=AGENT), Filter(task="task_1")], ids=["all", "agent", "task"])
async def test_executions_of_before_are_listed(stores: Stores, which: Filter) -> None:
    assert await list_executions(stores, which) == set()
    await adopt(stores)
    assert await list_executions(stores, which) == {"exec_queued", "exec_running", "exec_ended"}


async def test_what_was_used_and_reserved_is_counted_by_part(stores: Stores) -> None:
    await adopt(stores)
    of_all = CreditPart(credits_used=Decimal("9.5"), credits_reserved=Decimal(20))
    of_task = CreditPart(credits_used=Decimal("7.5"), credits_reserved=Decimal(20), is_capped=True)
    balance = await stores.ledger.balance("owner:ann")
    assert balance.parts == {f"workspace:{WORKSPACE}": of_all, f"agent:{AGENT}": of_all, "task:task_1": of_task}
    assert (balance.credits_used, balance.credits_reserved) == (Decimal("9.5"), Decimal(20))


async def test_tasks_have_no_balances_of_their_own_any_more(stores: Stores) -> None:
    await adopt(stores)
    assert {path for path in await read_all(clients_of(stores)) if path.startswith("purses/")} == {"purses/owner:ann"}


@pytest.mark.parametrize(("amount", "fits"), [("32.5", True), ("32.6", False)])
async def test_the_cap_of_a_task_counts_what_it_used_before(stores: Stores, amount: str, fits: bool) -> None:
    await adopt(stores)
    if fits:
        await open_new(stores, amount)
        return
    with pytest.raises(InsufficientCreditsError):
        await open_new(stores, amount)


@pytest.mark.parametrize("is_new_first", [True, False])
async def test_an_execution_that_begins_before_the_adoption_is_counted_once(stores: Stores, is_new_first: bool) -> None:
    if is_new_first:
        await open_new(stores, "5")
        await adopt(stores)
    else:
        await adopt(stores)
        await open_new(stores, "5")
    parts = (await stores.ledger.balance("owner:ann")).parts
    assert {part.credits_reserved for part in parts.values()} == {Decimal(25)}
    assert {name.partition(":")[0]: part.credits_used for name, part in parts.items()} == {
        "workspace": Decimal("9.5"),
        "agent": Decimal("9.5"),
        "task": Decimal("7.5"),
    }


@pytest.mark.parametrize("ends_first", [True, False])
async def test_an_execution_of_before_ends_with_nothing_left_reserved(stores: Stores, ends_first: bool) -> None:
    running = await stores.executions.get("exec_running")
    assert running is not None
    if not ends_first:
        await adopt(stores)
    ended = replace(running, credits_used=Decimal(3))
    entry = ledger.record_release(ended, tokens=Decimal(3), rest=Decimal(17), at=LATER)
    await stores.executions.finish(ended, replace(DONE, entry=entry), now=LATER)
    if ends_first:
        await adopt(stores)
    parts = (await stores.ledger.balance("owner:ann")).parts
    assert {name.partition(":")[0]: (part.credits_used, part.credits_reserved) for name, part in parts.items()} == {
        "workspace": (Decimal("12.5"), Decimal(0)),
        "agent": (Decimal("12.5"), Decimal(0)),
        "task": (Decimal("10.5"), Decimal(0)),
    }


async def test_a_queued_execution_of_before_is_claimed(stores: Stores) -> None:
    await adopt(stores)
    _, is_ours = await stores.executions.claim("exec_queued", slice=0, holder="h", now=NOW, lease=LEASE)
    assert is_ours


async def test_a_document_that_an_application_created_is_left_as_it_is(stores: Stores) -> None:
    reference = clients_of(stores).firestore().document("executions", "exec_forged")
    await reference.create({"id": "exec_forged", "owner": "ann", "task": "task_1", "admitted": True, "status": "completed"})
    await adopt(stores)
    snapshot = await reference.get()
    assert (snapshot.update_time, "workspace" in (snapshot.to_dict() or {})) == (snapshot.create_time, False)


async def test_a_document_that_cannot_be_read_holds_nothing_up(stores: Stores) -> None:
    client = clients_of(stores).firestore()
    foreign = type(client)(project="other", credentials=client._credentials).document("a", "b")
    await client.document("executions", "exec_a").create({"admitted": foreign, "owner": "ann"})
    adopted = await FirestoreAdoption(clients_of(stores)).run(lambda _: None, lambda: NOW, is_quiet=True)
    assert adopted is not None
    assert adopted.adopted["executions"] == 3


async def test_a_run_that_died_after_any_page_is_ended_by_the_next_and_counts_nothing_twice(stores: Stores) -> None:
    await adopt(stores)
    expected = await read_all(clients_of(stores))
    died_after, is_done = 0, False
    while not is_done:
        async with on_google_cloud() as fresh:
            await store_former(clients_of(fresh))
            dying = FirestoreAdoption(clients_of(fresh))
            adoption = await dying.begin(is_quiet=True, now=NOW)
            for _ in range(died_after):
                adoption = await dying.advance(page=1, now=NOW)
            assert adoption is not None
            is_done = adoption.is_done
            await adopt(fresh)
            assert await read_all(clients_of(fresh)) == expected
        died_after += 1
    assert died_after > PAGES_MIN


async def test_two_at_once_end_the_same(stores: Stores) -> None:
    async with on_google_cloud() as beside:
        await store_former(clients_of(beside))
        await asyncio.gather(adopt(beside), adopt(beside))
        await adopt(stores)
        assert await read_adopted(beside) == await read_adopted(stores)


async def test_a_second_run_changes_nothing(stores: Stores) -> None:
    await adopt(stores)
    before = await read_adopted(stores)
    assert (await adopt(stores), await read_adopted(stores)) == (None, before)


async def test_what_an_instance_of_before_stores_after_the_first_pass_is_adopted_by_the_second(stores: Stores) -> None:
    clients = clients_of(stores)
    await adopt(stores, is_quiet=False)
    await store_late(clients)
    assert await adopt(stores, is_quiet=False) is None
    await adopt(stores, is_quiet=False, at=NOW + INSTANCES_END)
    assert [task.id for task in (await stores.tasks.list(WORKSPACE)).items] == ["task_1", "task_late"]


async def store_late(clients: GoogleClients) -> None:
    """Store a task as an instance of the version before does."""
    client = clients.firestore()
    stored = (await client.document("tasks", "task_1").get()).to_dict() or {}
    late = {name: value for name, value in stored.items() if name not in ("workspace", "agent")}
    await client.document("tasks", "task_late").set({**late, "id": "task_late", "created_at": LATER})


async def test_each_stage_is_told(stores: Stores) -> None:
    messages: list[str] = []
    await FirestoreAdoption(clients_of(stores)).run(messages.append, lambda: NOW, is_quiet=True)
    assert [text.split()[2] for text in messages] == ["owners", "balances", "tasks", "executions"]


async def test_a_transaction_goes_through_no_more_than_a_page(stores: Stores) -> None:
    adoption = FirestoreAdoption(clients_of(stores))
    progress = await adoption.begin(is_quiet=True, now=NOW)
    while progress is not None and not progress.is_done:
        before = sum(progress.seen.values())
        progress = await adoption.advance(page=2, now=NOW)
        assert sum(progress.seen.values()) - before <= 2
