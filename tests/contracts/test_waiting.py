"""Waiting for people: a call that waits, and an execution that is parked and goes on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import TicketState
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.waiting import end_wait
from ferryman.domain.owners.plan import GURU
from ferryman.domain.stale import StaleError
from ferryman.ports.executions import Filter

from .approvals import SECOND, ask, build_approval, journal_calls, sign
from .conftest import Stores
from .values import DONE, ENTRY, EXECUTION, LATER, LEASE, OPENING, POLICY, RESULT, TOO_LATE, call_request, put, read_execution

RESERVED_FOR_CALLS = Decimal(2)
DAY = timedelta(days=1)


async def park(stores: Stores) -> Execution:
    """Park the execution with both calls, and return it as it is stored."""
    await journal_calls(stores)
    await stores.executions.park(await read_execution(stores), waiting_for="appr_1", keep=RESERVED_FOR_CALLS, now=LATER)
    return await read_execution(stores)


async def claim(stores: Stores, slice: int = 1) -> Execution:
    execution, is_claimed = await stores.executions.claim("exec_1", slice=slice, holder="h", now=LATER + DAY, lease=LEASE)
    assert is_claimed
    return execution


async def test_a_call_that_waits_is_not_under_way_and_names_its_approval(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.state, ticket.approval, ticket.sent_at, ticket.deadline) == (TicketState.WAITING, approval.id, None, None)


async def test_a_call_that_waits_is_claimed_as_one_that_was_never_sent(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    assert (claimed_call.ticket.approval, claimed_call.again) == (approval.id, False)


async def test_the_next_holder_of_the_lease_has_the_call_that_waits(stores: Stores) -> None:
    await journal_calls(stores)
    await ask(stores)
    await stores.executions.claim("exec_1", slice=0, holder="h", now=TOO_LATE, lease=LEASE)
    claimed_call = await stores.tickets.claim(call_request(0, epoch=2), tool="api_call", now=TOO_LATE)
    assert claimed_call.ticket.state is TicketState.SENT


async def test_asking_for_the_same_form_again_leaves_what_was_decided_meanwhile(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    decided = await stores.approvals.decide(sign(approval), now=LATER)
    ticket = await stores.tickets.ask(claimed_call, approval, now=LATER)
    assert (ticket.state, await stores.approvals.get(approval.id)) == (TicketState.WAITING, decided)


async def test_asking_for_another_form_withdraws_the_first(stores: Stores) -> None:
    await journal_calls(stores)
    first = await ask(stores)
    second = await ask(stores, digest="d2", at=LATER + SECOND)
    states = [(item.id, item.state) for item in await stores.approvals.list_of("exec_1")]
    assert states == [(first.id, ApprovalState.WITHDRAWN), (second.id, ApprovalState.PENDING)]


async def test_asking_twice_by_one_attempt_asks_once(stores: Stores) -> None:
    await journal_calls(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    ticket = await stores.tickets.ask(claimed_call, build_approval(), now=LATER)
    assert await stores.tickets.ask(claimed_call, build_approval(), now=LATER) == ticket


async def test_an_earlier_attempt_asks_nothing(stores: Stores) -> None:
    await journal_calls(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    await stores.tickets.settle(claimed_call, RESULT, now=LATER)
    with pytest.raises(StaleError):
        await stores.tickets.ask(claimed_call, build_approval(), now=LATER)
    assert not await stores.approvals.list_of("exec_1")


async def test_nothing_is_asked_once_the_lease_has_ended(stores: Stores) -> None:
    await journal_calls(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    with pytest.raises(StaleError):
        await stores.tickets.ask(claimed_call, build_approval(), now=TOO_LATE)


async def test_a_call_that_was_not_sent_after_all_keeps_its_approval(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    await stores.tickets.release(await stores.tickets.claim(call_request(0), tool="api_call", now=LATER))
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.state, ticket.approval) == (TicketState.INTENDED, approval.id)


async def test_a_settled_call_says_who_approved_it(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    approved = ApprovedSend(approval=approval.id, digest=approval.digest, by="pat", at=LATER)
    sent = replace(claimed_call, ticket=replace(claimed_call.ticket, approved=approved))
    await stores.tickets.settle(sent, RESULT, now=LATER)
    assert (await stores.executions.tickets("exec_1"))[0].approved == approved


async def test_a_parked_execution_waits_in_its_next_slice(stores: Stores) -> None:
    parked = await park(stores)
    assert (parked.slice, parked.waiting_for, parked.waiting_since) == (1, "appr_1", LATER)
    assert (parked.credits_reserved, parked.credits_returned) == (RESERVED_FOR_CALLS, Decimal(98))


async def test_a_parked_execution_reserves_what_it_keeps(stores: Stores) -> None:
    await park(stores)
    balance = await stores.ledger.balance("owner:ann")
    assert balance.credits_reserved == RESERVED_FOR_CALLS
    assert {part.credits_reserved for part in balance.parts.values()} == {RESERVED_FOR_CALLS}


async def test_a_parked_execution_holds_no_slot(stores: Stores) -> None:
    await park(stores)
    for number in range(GURU.executions_running):
        execution = replace(EXECUTION, id=f"other_{number}")
        await put(stores.tasks, stores.executions, execution)
        assert (await stores.executions.claim(execution.id, slice=0, holder="h", now=LATER, lease=LEASE))[1]


async def test_a_parked_execution_has_no_holder(stores: Stores) -> None:
    await journal_calls(stores)
    stored = await read_execution(stores)
    await stores.executions.park(stored, waiting_for="appr_1", keep=RESERVED_FOR_CALLS, now=LATER)
    with pytest.raises(StaleError):
        await stores.executions.renew(stored, now=LATER, lease=LEASE)


async def test_a_resumed_execution_reserves_as_before_and_has_waited(stores: Stores) -> None:
    await park(stores)
    resumed = await stores.executions.resume(await claim(stores), reserve=Decimal(100), now=LATER + DAY)
    assert (resumed.waiting_for, resumed.waiting_since, resumed.waited_s) == ("", None, DAY.total_seconds())
    assert (resumed.credits_reserved, resumed.credits_returned) == (Decimal(100), Decimal(0))
    assert await read_execution(stores) == resumed
    assert (await stores.ledger.balance("owner:ann")).credits_reserved == Decimal(100)


async def test_resuming_twice_resumes_once(stores: Stores) -> None:
    await park(stores)
    claimed = await claim(stores)
    resumed = await stores.executions.resume(claimed, reserve=Decimal(100), now=LATER + DAY)
    assert await stores.executions.resume(claimed, reserve=Decimal(100), now=LATER + DAY + SECOND) == resumed


async def test_an_execution_that_is_parked_again_has_waited_since_it_was_first(stores: Stores) -> None:
    await park(stores)
    await stores.executions.park(await claim(stores), waiting_for="appr_2", keep=RESERVED_FOR_CALLS, now=LATER + DAY)
    parked = await read_execution(stores)
    assert (parked.waiting_for, parked.waiting_since, parked.slice) == ("appr_2", LATER, 2)
    assert (await stores.ledger.balance("owner:ann")).credits_reserved == RESERVED_FOR_CALLS


async def test_what_others_have_reserved_meanwhile_is_not_taken_away(stores: Stores) -> None:
    await park(stores)
    other, rest = replace(EXECUTION, id="other_1"), GURU.credits_per_month - Decimal(50)
    await put(stores.tasks, stores.executions, other)
    claimed, _ = await stores.executions.claim("other_1", slice=0, holder="h", now=LATER, lease=LEASE)
    opening = replace(OPENING, max_credits=rest)
    entry = replace(ENTRY, id="other_1.start", execution="other_1")
    await stores.executions.open(replace(claimed, policy=POLICY, events=1), opening, entry=entry, now=LATER)
    with pytest.raises(InsufficientCreditsError) as refused:
        await stores.executions.resume(await claim(stores), reserve=Decimal(100), now=LATER + DAY)
    assert refused.value.alert
    assert (await read_execution(stores)).waiting_for == "appr_1"
    assert (await stores.ledger.balance("owner:ann")).credits_reserved == rest + RESERVED_FOR_CALLS


async def test_only_the_holder_resumes(stores: Stores) -> None:
    parked = await park(stores)
    await claim(stores)
    with pytest.raises(StaleError):
        await stores.executions.resume(parked, reserve=Decimal(100), now=LATER + DAY)


async def test_executions_that_wait_are_listed_until_they_go_on(stores: Stores) -> None:
    parked = await park(stores)
    await put(stores.tasks, stores.executions, replace(EXECUTION, id="other_1"))

    async def list_waiting(**which: object) -> list[str]:
        page = await stores.executions.list(parked.workspace, which=Filter(is_waiting=True, **which))
        return [execution.id for execution in page.items]

    assert (
        await list_waiting() == await list_waiting(task=parked.task) == await list_waiting(status=Status.RUNNING) == ["exec_1"]
    )
    assert await list_waiting(status=Status.QUEUED) == []
    await stores.executions.resume(await claim(stores), reserve=Decimal(100), now=LATER + DAY)
    assert await list_waiting() == []


async def test_an_execution_that_ends_while_it_waits_waits_for_nobody(stores: Stores) -> None:
    await park(stores)
    ended = end_wait(await claim(stores), LATER + DAY)
    await stores.executions.finish(ended, DONE, now=LATER + DAY)
    stored = await read_execution(stores)
    assert (stored.waiting_for, stored.waiting_since, stored.waited_s) == ("", None, DAY.total_seconds())
    assert not (await stores.executions.list(stored.workspace, which=Filter(is_waiting=True))).items
