"""Tickets: a call is claimed once, by the holder's epoch, within its lease, and settled by the attempt that made it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.executions.execution import OWNER
from ferryman.domain.stale import StaleError
from ferryman.ports.tickets import ClaimedCall

from .conftest import Stores
from .test_executions import claim_execution, open_execution
from .values import EXECUTION, LATER, LEASE, NOW, POLICY, RESULT, TASK, TOO_LATE, build_sealed, call_request, turn


async def journaled(stores: Stores) -> None:
    """Return an execution of the epoch 1 with two calls that are meant, and a credential stored once."""
    await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    await stores.credentials.put(build_sealed())


async def test_a_call_is_claimed_with_all_it_needs(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    sent = replace(turn().tickets[0], state=TicketState.SENT, attempt=1, sent_at=LATER, deadline=LATER + timedelta(seconds=35))
    assert claimed_call == ClaimedCall(
        call_request=call_request(),
        ticket=sent,
        policy=POLICY,
        versions={"A": 1},
        created=NOW,
        context=EXECUTION.context,
        task_name=TASK.name,
    )
    assert next(iter(await stores.executions.tickets("exec_1"))) == sent


async def test_a_call_is_claimed_once_whatever_is_delivered_twice(stores: Stores) -> None:
    await journaled(stores)
    await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)


async def test_a_settled_call_is_returned_as_it_is(stores: Stores) -> None:
    await journaled(stores)
    await stores.tickets.settle(await stores.tickets.claim(call_request(0), tool="api_call", now=NOW), RESULT, now=LATER)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    assert (claimed_call.ticket.state, claimed_call.ticket.result, claimed_call.ticket.settled_at) == (
        TicketState.SETTLED,
        RESULT,
        LATER,
    )
    assert claimed_call.ticket.attempt == 1


@pytest.mark.parametrize("attempt", [0, 2])
async def test_another_attempts_result_changes_nothing(stores: Stores, attempt: int) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    other = replace(claimed_call, ticket=replace(claimed_call.ticket, attempt=attempt), mark=None)
    await stores.tickets.settle(other, RESULT, now=LATER)
    assert next(iter(await stores.executions.tickets("exec_1"))) == claimed_call.ticket


async def test_a_settled_call_is_not_settled_again(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    await stores.tickets.settle(claimed_call, RESULT, now=LATER)
    await stores.tickets.settle(claimed_call, replace(RESULT, content="other"), now=LATER)
    assert next(iter(await stores.executions.tickets("exec_1"))).result == RESULT


async def test_a_call_that_was_given_back_can_be_claimed_again(stores: Stores) -> None:
    await journaled(stores)
    await stores.tickets.release(await stores.tickets.claim(call_request(0), tool="api_call", now=NOW))
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    assert (claimed_call.ticket.attempt, claimed_call.ticket.sent_at) == (2, LATER)


async def test_only_the_attempt_under_way_can_be_given_back(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    await stores.tickets.release(replace(claimed_call, ticket=replace(claimed_call.ticket, attempt=2)))
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)


async def test_a_call_of_another_epoch_tool_or_number_is_not_claimed(stores: Stores) -> None:
    await journaled(stores)
    for seq, epoch, tool in ((0, 0, "api_call"), (0, 2, "api_call"), (0, 1, "http_get"), (2, 1, "api_call")):
        with pytest.raises(StaleError):
            await stores.tickets.claim(call_request(seq, epoch=epoch), tool=tool, now=LATER)
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0, execution="exec_2"), tool="api_call", now=LATER)


async def test_a_call_is_not_claimed_when_the_lease_has_run_out(stores: Stores) -> None:
    await journaled(stores)
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=TOO_LATE)


async def test_a_call_is_not_claimed_of_an_execution_that_was_not_opened(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.executions.commit(await claim_execution(stores), turn(), now=NOW, lease=LEASE)
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)


@pytest.mark.parametrize("fact", ["cancelled", "disabled", "deleted", "halted", "all halted"])
async def test_a_call_is_not_claimed_once_the_owner_has_changed_their_mind(stores: Stores, fact: str) -> None:
    await journaled(stores)
    if fact == "cancelled":
        await stores.executions.cancel("exec_1", by=OWNER, now=NOW)
    elif "halted" in fact:
        await stores.halts.put(None if fact == "all halted" else "ann", on=True, now=NOW)
    elif fact == "disabled":
        await stores.tasks.update(replace(TASK, enabled=False), ["enabled"], since=TASK.updated_at)
    else:
        await stores.tasks.delete("task_1")
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    assert next(iter(await stores.executions.tickets("exec_1"))).state is TicketState.INTENDED


async def test_the_next_holder_claims_what_was_only_meant(stores: Stores) -> None:
    await journaled(stores)
    await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=TOO_LATE)
    claimed_call = await stores.tickets.claim(call_request(0, epoch=2), tool="api_call", now=TOO_LATE)
    assert (claimed_call.ticket.epoch, claimed_call.ticket.attempt) == (2, 1)


async def test_a_sent_call_can_be_claimed_again_when_its_deadline_has_passed_and_not_before(stores: Stores) -> None:
    await journaled(stores)
    first = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    deadline = first.ticket.deadline
    assert deadline is not None
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0), tool="api_call", now=deadline - timedelta(seconds=1))
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=deadline)
    assert (claimed_call.again, claimed_call.ticket.attempt, claimed_call.ticket.sent_at) == (True, 2, NOW)


async def test_what_an_overtaken_attempt_learned_changes_nothing(stores: Stores) -> None:
    await journaled(stores)
    first = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    assert first.ticket.deadline is not None
    second = await stores.tickets.claim(call_request(0), tool="api_call", now=first.ticket.deadline)
    await stores.tickets.settle(first, RESULT, now=first.ticket.deadline)
    assert next(iter(await stores.executions.tickets("exec_1"))) == second.ticket


async def test_a_call_that_was_sent_under_an_earlier_lease_is_still_settled_by_its_attempt(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    await stores.executions.claim("exec_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    await stores.tickets.settle(claimed_call, RESULT, now=TOO_LATE, in_doubt=True)
    ticket = next(iter(await stores.executions.tickets("exec_1")))
    assert (ticket.result, ticket.in_doubt) == (RESULT, True)


@pytest.mark.parametrize("wrong", [{"task": "task_2"}, {"owner": "bob"}])
async def test_a_call_is_not_claimed_under_another_task_or_owner(stores: Stores, wrong: dict[str, str]) -> None:
    await journaled(stores)
    await stores.tasks.create(replace(TASK, id="task_2"))
    with pytest.raises(StaleError):
        await stores.tickets.claim(call_request(0, **wrong), tool="api_call", now=LATER)


async def test_the_scope_is_told_to_the_holders_epoch_alone(stores: Stores) -> None:
    await journaled(stores)
    execution, versions = await stores.tickets.scope("exec_1", task="task_1", epoch=1, now=LATER)
    assert (execution.id, execution.task, versions) == ("exec_1", "task_1", {"A": 1})
    for name, task, epoch, now in (
        ("exec_1", "task_1", 2, LATER),
        ("exec_1", "task_1", 1, TOO_LATE),
        ("exec_2", "task_1", 1, LATER),
        ("exec_1", "task_2", 1, LATER),
    ):
        with pytest.raises(StaleError):
            await stores.tickets.scope(name, task=task, epoch=epoch, now=now)


async def test_of_many_who_claim_a_call_at_once_one_gets_it(stores: Stores) -> None:
    await journaled(stores)
    claims = (stores.tickets.claim(call_request(0), tool="api_call", now=LATER) for _ in range(8))
    got = await asyncio.gather(*claims, return_exceptions=True)
    assert [type(outcome) for outcome in got if not isinstance(outcome, StaleError)] == [ClaimedCall]


async def test_what_was_sent_of_the_keys_is_stored_with_the_execution(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    assert claimed_call.coverage == b""
    assert await stores.tickets.cover(claimed_call, b"", b"sealed", now=LATER) == b"sealed"
    assert (await stores.tickets.claim(call_request(1), tool="api_call", now=LATER)).coverage == b"sealed"


async def test_of_two_additions_to_it_at_once_one_is_told_of_the_other(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    stored = await asyncio.gather(*(stores.tickets.cover(claimed_call, b"", b"%d" % number, now=NOW) for number in range(3)))
    assert len(set(stored)) == 1


async def test_an_addition_stays_through_a_turn_that_is_committed_meanwhile(stores: Stores) -> None:
    await journaled(stores)
    execution = await stores.executions.get("exec_1")
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    await stores.tickets.cover(claimed_call, b"", b"sealed", now=NOW)
    assert execution is not None
    await stores.executions.renew(execution, now=LATER, lease=LEASE)
    await stores.executions.give_up(execution, now=LATER)
    stored = await stores.executions.get("exec_1")
    assert stored is not None
    assert stored.coverage == b"sealed"


async def test_a_holder_of_an_older_lease_adds_nothing(stores: Stores) -> None:
    await journaled(stores)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    with pytest.raises(StaleError):
        await stores.tickets.cover(claimed_call, b"", b"sealed", now=TOO_LATE)
    with pytest.raises(StaleError):
        await stores.tickets.cover(replace(claimed_call, call_request=call_request(0, epoch=2)), b"", b"sealed", now=NOW)
