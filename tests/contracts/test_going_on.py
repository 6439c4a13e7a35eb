"""Calls that go on at their host: postponed, asked about again, and never taken for ones that were not sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.stale import StaleError
from ferryman.ports.tickets import ClaimedCall

from .approvals import build_approval, journal_calls
from .conftest import Stores
from .values import LATER, RESULT, call_request

SOON = LATER + timedelta(seconds=3)
SEALED = b"what goes on"
HALF = CallProgress(done=1.0, total=2.0, message="halfway")


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


async def test_a_report_of_progress_is_there_until_the_call_has_its_result(stores: Stores) -> None:
    await journal_calls(stores)
    claimed = await claim(stores)
    noted = await stores.tickets.note_progress(claimed, HALF)
    noted = await stores.tickets.note_progress(noted, replace(HALF, done=2.0))
    assert (await stores.executions.tickets("exec_1"))[0].progress == replace(HALF, done=2.0)
    await stores.tickets.settle(claimed, RESULT, now=LATER)
    ticket = (await stores.executions.tickets("exec_1"))[0]
    assert (ticket.result, ticket.progress) == (RESULT, None)


@pytest.mark.parametrize("end", ["settle", "release", "postpone", "ask"])
async def test_a_report_after_the_attempt_has_ended_is_not_stored(stores: Stores, end: str) -> None:
    await journal_calls(stores)
    claimed = await claim(stores)
    noted = await stores.tickets.note_progress(claimed, HALF)
    ends = {
        "settle": lambda: stores.tickets.settle(claimed, RESULT, now=LATER),
        "release": lambda: stores.tickets.release(claimed),
        "postpone": lambda: stores.tickets.postpone(claimed, SEALED, until=SOON),
        "ask": lambda: stores.tickets.ask(claimed, build_approval(), now=LATER, continuation=SEALED),
    }
    await ends[end]()
    with pytest.raises(StaleError):
        await stores.tickets.note_progress(noted, HALF)
    assert (await stores.executions.tickets("exec_1"))[0].progress is None


async def test_what_became_of_a_question_is_stored_until_the_next_one(stores: Stores) -> None:
    await journal_calls(stores)
    claimed = await claim(stores)
    declined = replace(claimed, ticket=replace(claimed.ticket, unanswered="denied"))
    await stores.tickets.postpone(declined, SEALED, until=SOON)
    assert (await stores.executions.tickets("exec_1"))[0].unanswered == "denied"
    await stores.tickets.ask(await claim(stores), build_approval(), now=LATER, continuation=SEALED)
    assert (await stores.executions.tickets("exec_1"))[0].unanswered == ""
