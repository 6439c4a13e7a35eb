"""Again: a call that was sent and whose outcome nobody knows, and one that is broken off under way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.stale import StaleError
from ferryman.tools.execute_call import ATTEMPTS_MAX

from .bank import ASKED, POLICY, Bank

STRIPE = {"method": "POST", "url": "https://api.stripe.com/v1/charges", "credential": "KEY", "body": {"amount": 1}}


@pytest.fixture
def bank() -> Bank:
    return Bank()


class Died(BaseException):
    """The instance is gone, with whatever it was doing."""


async def lost(bank: Bank) -> None:
    """Send the call, and die before the answer is written down; then its deadline passes."""

    async def die(_: object) -> None:
        raise Died

    bank.on_send = die
    with pytest.raises(Died):
        await bank.carry()
    bank.on_send = None
    lease = replace(bank.memory.executions["e"].lease, expires_at=bank.clock.turn(60) + timedelta(hours=1))
    bank.memory.executions["e"] = replace(bank.memory.executions["e"], lease=lease)


def keyed(bank: Bank) -> None:
    """Have the call go to a service that tells repetitions apart."""
    policy = replace(POLICY, integrations=("coingecko", "stripe"))
    bank.memory.executions["e"] = replace(bank.memory.executions["e"], policy=policy)
    bank.arguments_ = STRIPE


async def test_a_safe_call_is_sent_again(bank):
    await lost(bank)
    assert ((await bank.carry()).content, len(bank.sent), bank.ticket.attempt) == ("done", 2, 2)
    assert not bank.ticket.in_doubt


async def test_an_unsafe_call_is_not_sent_again_and_is_in_doubt(bank):
    bank.arguments_ = {**ASKED, "method": "POST"}
    await lost(bank)
    result = await bank.carry()
    assert result.content == "Error: outcome unknown -- the request may have been executed. It was not repeated."
    assert (len(bank.sent), bank.ticket.in_doubt, bank.ticket.state) == (1, True, TicketState.SETTLED)


async def test_an_unsafe_call_to_a_service_that_tells_repetitions_apart_is_sent_again_with_the_same_key(bank):
    keyed(bank)
    await lost(bank)
    assert (await bank.carry()).content == "done"
    assert [outbound.idempotency for outbound, _ in bank.sent] == [("Idempotency-Key", "e-0")] * 2


async def test_a_safe_call_carries_no_such_key(bank):
    keyed(bank)
    bank.arguments_ = {**STRIPE, "method": "GET"}
    await bank.carry()
    assert bank.sent[0][0].idempotency is None


async def test_a_service_the_task_was_not_approved_for_gets_no_such_key(bank):
    keyed(bank)
    bank.memory.executions["e"] = replace(bank.memory.executions["e"], policy=POLICY)
    await bank.carry()
    assert bank.sent[0][0].idempotency is None


async def test_a_call_is_sent_three_times_at_most(bank):
    for _ in range(ATTEMPTS_MAX):
        await lost(bank)
    await bank.carry()
    assert (len(bank.sent), bank.ticket.in_doubt) == (ATTEMPTS_MAX, True)


async def test_a_call_that_may_have_been_sent_is_in_doubt_even_when_its_arguments_cannot_be_read_any_more(bank):
    await lost(bank)
    bank.arguments_ = RuntimeError()
    result = await bank.carry()
    assert (result.blocked, bank.ticket.in_doubt) == (False, True)


async def test_a_call_under_way_is_not_sent_by_another(bank):
    async def meanwhile(_: object) -> None:
        with pytest.raises(StaleError):
            await bank.carry()

    bank.on_send = meanwhile
    await bank.carry()
    assert len(bank.sent) == 1


async def test_an_instance_that_stood_still_past_the_deadline_sends_nothing(bank):
    opened = bank.open_credential

    async def slowly(sealed):
        bank.clock.turn(40)
        return await opened(sealed)

    bank.open_credential = slowly
    with pytest.raises(StaleError):
        await bank.carry()
    assert bank.sent == []


@pytest.mark.parametrize(("method", "reason", "in_doubt"), [("GET", "halted", False), ("POST", "in_doubt", True)])
async def test_a_kill_switch_breaks_off_a_call_under_way(bank, method, reason, in_doubt):
    bank.arguments_ = {**ASKED, "method": method}

    async def hang(_: object) -> None:
        bank.memory.halts.add("o")
        await asyncio.Event().wait()

    bank.on_send = hang
    result = await bank.carry()
    assert (bank.ticket.in_doubt, result.blocked, result.response_status) == (in_doubt, False, None)
    assert f"call.{reason}" in [event for event, _ in bank.log.lines]


async def test_an_unsafe_call_that_was_sent_and_failed_is_in_doubt(bank):
    bank.arguments_ = {**ASKED, "method": "POST"}
    bank.answer = ToolCallResult("api_call", "Error: request timed out (30s)", method="POST", credential_used="KEY")
    assert (await bank.carry()).content == "Error: request timed out (30s)"
    assert bank.ticket.in_doubt


async def test_the_gate_gets_no_more_time_than_the_ticket_has(bank):
    opened = bank.open_credential

    async def slowly(sealed):
        bank.clock.turn(12)
        return await opened(sealed)

    bank.open_credential = slowly
    await bank.carry()
    assert bank.within_s == [18]
