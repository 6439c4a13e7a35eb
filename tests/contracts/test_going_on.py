"""Calls that go on at their host: postponed, asked about again, and never taken for ones that were not sent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.stale import StaleError
from ferryman.ports.tickets import ClaimedCall

from .approvals import build_approval, journal_calls
from .conftest import Stores
from .values import LATER, RESULT, call_request

SOON = LATER + timedelta(seconds=3)
SEALED = b"what goes on"


async def claim(stores: Stores) -> ClaimedCall:
    return await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)


async def test_a_call_that_goes_on_waits_for_its_time_with_what_goes_on(stores: Stores) -> None:
    await journal_calls(stores)
    returned = await stores.tickets.postpone(await claim(stores), SEALED, until=SOON)
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.state, ticket.continuation, ticket.resumed_at) == (TicketState.INTENDED, SEALED, SOON)
    assert (returned.state, returned.resumed_at, returned.goes_on) == (TicketState.INTENDED, SOON, True)


async def test_it_is_claimed_again_with_what_goes_on_and_counts_as_one_send(stores: Stores) -> None:
    await journal_calls(stores)
    await stores.tickets.postpone(await claim(stores), SEALED, until=SOON)
    claimed = await claim(stores)
    assert (claimed.ticket.continuation, claimed.ticket.sends, claimed.again) == (SEALED, 1, False)


async def test_an_attempt_to_ask_that_sent_nothing_leaves_what_goes_on(stores: Stores) -> None:
    await journal_calls(stores)
    await stores.tickets.postpone(await claim(stores), SEALED, until=SOON)
    await stores.tickets.release(await claim(stores))
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.goes_on, ticket.sent_at) == (True, LATER)


async def test_an_earlier_attempt_postpones_nothing(stores: Stores) -> None:
    await journal_calls(stores)
    claimed = await claim(stores)
    await stores.tickets.settle(claimed, RESULT, now=LATER)
    await stores.tickets.postpone(claimed, SEALED, until=SOON)
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.state, ticket.continuation) == (TicketState.SETTLED, b"")


async def test_a_question_of_the_host_is_stored_with_what_goes_on(stores: Stores) -> None:
    await journal_calls(stores)
    await stores.tickets.ask(await claim(stores), build_approval(), now=LATER, continuation=SEALED)
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.state, ticket.continuation) == (TicketState.WAITING, SEALED)


async def test_a_person_who_is_asked_about_the_call_leaves_what_goes_on(stores: Stores) -> None:
    await journal_calls(stores)
    await stores.tickets.postpone(await claim(stores), SEALED, until=SOON)
    await stores.tickets.ask(await claim(stores), build_approval(), now=LATER)
    assert (await stores.executions.tickets("exec_1"))[0].continuation == SEALED


async def test_a_call_that_goes_on_has_no_second_claim_beside_the_first(stores: Stores) -> None:
    await journal_calls(stores)
    await stores.tickets.postpone(await claim(stores), SEALED, until=SOON)
    await claim(stores)
    with pytest.raises(StaleError):
        await claim(stores)
