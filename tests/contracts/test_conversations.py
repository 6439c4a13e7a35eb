"""What conversations use: counted in a document of each, with the balance of their owner, and none without a conversation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.credits import ledger
from ferryman.domain.credits.conversation import ConversationBalance
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import Cap, CapKind

from .conftest import Stores
from .values import DONE, EXECUTION, LEASE, NOW, OPENING, POLICY, open_execution, put, read_execution

TALK = f"{EXECUTION.agent}/talk"


OTHERS = {"owner": "bob", "workspace": "ws_other", "agent": "agent_other"}
"""Another owner's agent; nothing but the id of the conversation is the same."""

COLLEAGUE = {"agent": "agent_other"}
"""Another agent of the same workspace."""


async def start(
    stores: Stores, name: str, *, conversation: str = "talk", limit: int = 10_000, now: datetime = NOW, **context: str
) -> Execution:
    """Return an execution of `conversation` that is opened `now`, with 100 credits reserved; `context` has other ids of it."""
    task = context.get("owner", EXECUTION.task)  # an owner's has an id of its own
    started = replace(EXECUTION, id=name, task=task, conversation=conversation, **context)
    await put(stores.tasks, stores.executions, started)
    claimed, _ = await stores.executions.claim(name, slice=0, holder="h", now=now, lease=LEASE)
    part = f"{started.agent}/{conversation}"
    cap = Cap(kind=CapKind.CONVERSATION, id=part, credits=Decimal(limit), set_by=CapKind.AGENT)
    execution = replace(claimed, policy=replace(POLICY, caps=(cap,)))
    await stores.executions.open(execution, OPENING, entry=ledger.record_reservation(execution, Decimal(100), at=now), now=now)
    return replace(execution, credits_reserved=Decimal(100))


async def end(stores: Stores, execution: Execution, used: int, *, now: datetime = NOW) -> None:
    """End `execution`, which has used so many of its 100 credits."""
    entry = ledger.record_release(execution, tokens=Decimal(used), rest=Decimal(100 - used), at=now)
    await stores.executions.finish(replace(execution, credits_used=Decimal(used)), replace(DONE, entry=entry), now=now)


async def read(stores: Stores, *, most: int = 10) -> list[ConversationBalance]:
    """Return the balances of the conversations of the workspace."""
    return [*await stores.ledger.list_conversations(EXECUTION.workspace, most=most)]


async def test_a_conversation_is_named_by_the_execution_its_context_and_its_entries(stores: Stores) -> None:
    await start(stores, "exec_1")
    stored = await read_execution(stores)
    assert (stored.conversation, stored.context.conversation) == ("talk", "talk")
    (entry,) = await stores.ledger.of_execution("exec_1")
    assert entry.conversation == ledger.digest_conversation(stored)


async def test_what_is_reserved_and_used_is_counted_over_the_executions_of_a_conversation(stores: Stores) -> None:
    first = await start(stores, "exec_1")
    await end(stores, first, 40)
    await start(stores, "exec_2")
    (balance,) = await read(stores)
    assert (balance.part_id, balance.month, balance.credits_used, balance.credits_reserved) == (TALK, "2026-11", 40, 100)


async def test_no_execution_without_a_conversation_has_such_a_balance(stores: Stores) -> None:
    await open_execution(stores)
    assert await read(stores) == []


async def test_the_balance_of_the_owner_holds_no_conversation(stores: Stores) -> None:
    await asyncio.gather(*(start(stores, f"exec_{number}", conversation=f"talk_{number}") for number in range(5)))
    parts = (await stores.ledger.balance("owner:ann")).parts
    assert {name.partition(":")[0] for name in parts} == {"workspace", "agent", "task"}


async def test_each_conversation_has_a_cap_of_its_own(stores: Stores) -> None:
    await start(stores, "exec_1", limit=150)
    with pytest.raises(InsufficientCreditsError, match="conversation talk may use 150 credits"):
        await start(stores, "exec_2", limit=150)
    await start(stores, "exec_3", conversation="other", limit=150)


async def test_a_conversation_is_listed_in_its_own_workspace_alone(stores: Stores) -> None:
    await start(stores, "exec_1")
    assert await stores.ledger.list_conversations("ws_other", most=10) == []
    (balance,) = await read(stores)
    assert (balance.agent, balance.owner) == (EXECUTION.agent, "ann")


@pytest.mark.parametrize("context", [OTHERS, COLLEAGUE], ids=["another owner's", "of another agent"])
async def test_a_conversation_of_the_same_id_does_not_exhaust_it(stores: Stores, context: dict[str, str]) -> None:
    await start(stores, "exec_1", limit=150, **context)
    await start(stores, "exec_2", limit=150)
    with pytest.raises(InsufficientCreditsError, match="of which 0 are used and 100 reserved"):
        await start(stores, "exec_3", limit=150)


@pytest.mark.parametrize("context", [OTHERS, COLLEAGUE], ids=["another owner's", "of another agent"])
async def test_a_conversation_of_the_same_id_is_charged_for_its_own_executions(stores: Stores, context: dict[str, str]) -> None:
    mine, other = await start(stores, "exec_1"), await start(stores, "exec_2", **context)
    await asyncio.gather(end(stores, mine, 40), end(stores, other, 7))
    listed = [*await read(stores), *await stores.ledger.list_conversations("ws_other", most=10)]
    assert {balance.part_id: balance.credits_used for balance in listed} == {TALK: 40, "agent_other/talk": 7}


async def test_a_conversation_of_the_same_id_has_another_name_in_the_ledger(stores: Stores) -> None:
    mine, other = await start(stores, "exec_1"), await start(stores, "exec_2", **COLLEAGUE)
    assert ledger.digest_conversation(mine) != ledger.digest_conversation(other)


async def test_a_new_month_begins_with_nothing_used(stores: Stores) -> None:
    await end(stores, await start(stores, "exec_1", limit=150), 90)
    later = NOW + timedelta(days=30)
    await start(stores, "exec_2", limit=150, now=later)
    (balance,) = await read(stores)
    assert (balance.month, balance.credits_used, balance.credits_reserved) == ("2026-12", 0, 100)


async def test_a_conversation_that_used_nothing_leaves_no_balance(stores: Stores) -> None:
    await end(stores, await start(stores, "exec_1"), 0)
    assert await read(stores) == []


async def test_those_that_changed_last_are_listed_first(stores: Stores) -> None:
    for number in range(3):
        await start(stores, f"exec_{number}", conversation=f"talk_{number}", now=NOW + timedelta(minutes=number))
    assert [balance.conversation for balance in await read(stores, most=2)] == ["talk_2", "talk_1"]


async def test_64_executions_that_end_at_once_are_all_counted(stores: Stores) -> None:
    executions = await asyncio.gather(*(start(stores, f"exec_{number}") for number in range(64)))
    await asyncio.gather(*(end(stores, execution, 3) for execution in executions))
    (balance,) = await read(stores)
    assert (balance.credits_used, balance.credits_reserved) == (192, 0)
    assert (await stores.ledger.balance("owner:ann")).credits_used == 192


async def test_an_entry_holds_no_text_of_the_starter(stores: Stores) -> None:
    await start(stores, "exec_1", conversation="anna-meier")
    (entry,) = await stores.ledger.of_execution("exec_1")
    assert entry.conversation
    assert "anna" not in repr(entry)
