"""Again: a call that was sent and whose outcome nobody knows, and one that is interrupted."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.catalog.tools import get_fee
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import CALL_ATTEMPTS_MAX, TicketState, ToolCallResult
from ferryman.domain.stale import StaleError

from .harness import ARGUMENTS, POLICY, ToolHarness

REFUSED_CONNECTION = ToolCallResult.from_refusal(
    "api_call", refusal.report_failure("the connection was refused"), method="POST"
)
STRIPE = {"method": "POST", "url": "https://api.stripe.com/v1/charges", "credential": "KEY", "body": {"amount": 1}}


@pytest.fixture
def harness() -> ToolHarness:
    return ToolHarness()


class Died(BaseException):
    """The instance is dead, with all that it was doing."""


async def lose_answer(harness: ToolHarness) -> None:
    """Send the call, and die before the answer is written down; then its deadline passes."""

    async def die(_: object) -> None:
        raise Died

    harness.on_send = die
    with pytest.raises(Died):
        await harness.execute()
    harness.on_send = None
    lease = replace(harness.memory.executions["e"].lease, expires_at=harness.clock.turn(60) + timedelta(hours=1))
    harness.memory.executions["e"] = replace(harness.memory.executions["e"], lease=lease)


def keyed(harness: ToolHarness) -> None:
    """Have the call go to a service that recognises repetitions."""
    policy = replace(POLICY, integrations=("coingecko", "stripe"))
    harness.memory.executions["e"] = replace(harness.memory.executions["e"], policy=policy)
    harness.arguments_ = STRIPE


async def test_a_safe_call_is_sent_again(harness):
    await lose_answer(harness)
    assert ((await harness.execute()).content, len(harness.sent), harness.ticket.attempt) == ("done", 2, 2)
    assert not harness.ticket.in_doubt


async def test_an_unsafe_call_is_not_sent_again_and_is_in_doubt(harness):
    harness.arguments_ = {**ARGUMENTS, "method": "POST"}
    await lose_answer(harness)
    result = await harness.execute()
    assert result.content == "Error: outcome unknown -- the request may have been executed. It was not repeated."
    assert (len(harness.sent), harness.ticket.in_doubt, harness.ticket.state) == (1, True, TicketState.SETTLED)


async def test_an_unsafe_call_to_a_service_that_tells_repetitions_apart_is_sent_again_with_the_same_key(harness):
    keyed(harness)
    await lose_answer(harness)
    assert (await harness.execute()).content == "done"
    assert [outbound.idempotency for outbound, _ in harness.sent] == [("Idempotency-Key", "e-0")] * 2


async def test_a_safe_call_has_no_such_key(harness):
    keyed(harness)
    harness.arguments_ = {**STRIPE, "method": "GET"}
    await harness.execute()
    assert harness.sent[0][0].idempotency is None


async def test_a_service_the_task_was_not_approved_for_gets_no_such_key(harness):
    keyed(harness)
    harness.memory.executions["e"] = replace(harness.memory.executions["e"], policy=POLICY)
    await harness.execute()
    assert harness.sent[0][0].idempotency is None


async def test_a_call_is_sent_three_times_at_most(harness):
    for _ in range(CALL_ATTEMPTS_MAX):
        await lose_answer(harness)
    await harness.execute()
    assert (len(harness.sent), harness.ticket.in_doubt) == (CALL_ATTEMPTS_MAX, True)


async def test_a_call_that_may_have_been_sent_is_in_doubt_even_when_its_arguments_cannot_be_read_any_more(harness):
    await lose_answer(harness)
    harness.arguments_ = RuntimeError()
    result = await harness.execute()
    assert (result.blocked, harness.ticket.in_doubt) == (False, True)


async def test_a_call_under_way_is_not_sent_by_another(harness):
    async def meanwhile(_: object) -> None:
        with pytest.raises(StaleError):
            await harness.execute()

    harness.on_send = meanwhile
    await harness.execute()
    assert len(harness.sent) == 1


async def test_an_instance_that_stood_still_past_the_deadline_sends_nothing(harness):
    opened = harness.open_credential

    async def slowly(sealed):
        harness.clock.turn(40)
        return await opened(sealed)

    harness.open_credential = slowly
    with pytest.raises(StaleError):
        await harness.execute()
    assert harness.sent == []


@pytest.mark.parametrize(("method", "reason", "in_doubt"), [("GET", "halted", False), ("POST", "in_doubt", True)])
async def test_a_kill_switch_breaks_off_a_call_under_way(harness, method, reason, in_doubt):
    harness.arguments_ = {**ARGUMENTS, "method": method}

    async def hang(_: object) -> None:
        harness.memory.halts.add("o")
        await asyncio.Event().wait()

    harness.on_send = hang
    result = await harness.execute()
    assert (harness.ticket.in_doubt, result.blocked, result.response_status) == (in_doubt, False, None)
    assert f"call.{reason}" in [event for event, _ in harness.log.lines]


async def test_a_cancel_breaks_off_a_call_that_only_reads(harness):
    harness.arguments_ = {**ARGUMENTS, "method": "GET"}

    async def hang(_: object) -> None:
        harness.memory.executions["e"] = replace(harness.memory.executions["e"], cancel_requested=True)
        await asyncio.Event().wait()

    harness.on_send = hang
    assert (await harness.execute()).content == refusal.HALTED.message
    assert not harness.ticket.in_doubt


async def test_a_cancel_waits_for_a_call_that_changes_something(harness):
    harness.arguments_ = {**ARGUMENTS, "method": "POST"}

    async def take_some_time(_: object) -> None:
        harness.memory.executions["e"] = replace(harness.memory.executions["e"], cancel_requested=True)
        for _ in range(200):
            await asyncio.sleep(0)

    harness.on_send = take_some_time
    assert (await harness.execute()).content == "done"


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_kill_switch_before_the_first_byte_leaves_a_call_unsent_and_free(harness, method):
    harness.arguments_, harness.connects = {**ARGUMENTS, "method": method}, False

    async def hang(_: object) -> None:
        harness.memory.halts.add("o")
        await asyncio.Event().wait()

    harness.on_send = hang
    result = await harness.execute()
    assert (harness.ticket.in_doubt, result.blocked, result.block_reason, get_fee(result)) == (False, True, "halted", 0)


async def test_a_repeated_call_that_is_stopped_before_its_first_byte_stays_in_doubt(harness):
    keyed(harness)
    await lose_answer(harness)

    async def hang(_: object) -> None:
        harness.memory.halts.add("o")
        await asyncio.Event().wait()

    harness.connects, harness.on_send = False, hang
    assert (await harness.execute()).content == refusal.IN_DOUBT.message
    assert (harness.ticket.in_doubt, len(harness.sent)) == (True, 2)


async def test_an_unsafe_call_that_was_sent_and_failed_is_in_doubt(harness):
    harness.arguments_ = {**ARGUMENTS, "method": "POST"}
    harness.answer = ToolCallResult(
        "api_call", "Error: request timed out (30s)", method="POST", credential_used="KEY", ok=False
    )
    assert (await harness.execute()).content == "Error: request timed out (30s)"
    assert harness.ticket.in_doubt


async def test_the_gate_gets_no_more_time_than_the_ticket_has(harness):
    opened = harness.open_credential

    async def slowly(sealed):
        harness.clock.turn(12)
        return await opened(sealed)

    harness.open_credential = slowly
    await harness.execute()
    assert harness.within_s == [18]


@pytest.mark.parametrize(("connects", "in_doubt"), [(True, True), (False, False)])
async def test_an_unsafe_call_is_in_doubt_only_where_a_byte_of_it_left(harness, connects, in_doubt):
    harness.arguments_ = {**ARGUMENTS, "method": "POST"}
    harness.connects = connects
    harness.answer = ToolCallResult.from_refusal(
        "api_call", refusal.report_failure("the connection was refused"), method="POST"
    )
    await harness.execute()
    assert harness.ticket.in_doubt is in_doubt


async def test_a_repeated_call_whose_connection_is_refused_stays_in_doubt(harness):
    keyed(harness)
    await lose_answer(harness)
    harness.connects = False
    harness.answer = ToolCallResult.from_refusal(
        "api_call", refusal.report_failure("the connection was refused"), method="POST"
    )
    await harness.execute()
    assert harness.ticket.in_doubt
