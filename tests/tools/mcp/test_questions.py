"""What an MCP server asks in the middle of a call: a person answers, signed, and the call is made with that, once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.approvals.approval import LIFETIME, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.calls.call import TicketState
from tests.campaigns.approvals.rig import STRANGER, sign

from .rig import API_KEY, URL, RemoteRig

ANSWER = {"booking": {"people": 4, "hour": "20:00"}}


def build_rig(**fields: Any) -> RemoteRig:
    return RemoteRig(tool="desk__book_table", arguments={"day": "Friday"}, **fields)


async def ask(rig: RemoteRig) -> RemoteRig:
    await rig.begin()
    assert (await rig.send()).state is TicketState.WAITING
    return rig


async def get_result(rig: RemoteRig) -> Any:
    ticket = await rig.send()
    assert ticket.result is not None
    return ticket.result


async def test_a_question_waits_for_a_person_and_shows_the_server_and_its_fields() -> None:
    rig = await ask(build_rig())
    what = json.loads(rig.approval.form)["what"]
    assert (what["kind"], what["server"], what["url"], what["tool"]) == ("question", "desk", URL, "book_table")
    assert [item["key"] for item in what["questions"]] == ["booking"]
    assert set(what["questions"][0]["schema"]["properties"]) == {"people", "hour"}


async def test_the_call_is_made_with_the_answer_and_says_who_answered() -> None:
    rig = await ask(build_rig())
    await rig.answer(ANSWER)
    ticket = await rig.send()
    assert ticket.result is not None
    assert "booked 4 people on Friday at 20:00" in ticket.result.content
    assert ticket.approved is not None
    assert (ticket.approved.approval, ticket.approved.by) == (rig.approval.id, "person_a")


async def test_nothing_is_sent_while_nobody_has_answered() -> None:
    rig = await ask(build_rig())
    before = len(rig.peer.requests)
    assert (await rig.send()).state is TicketState.WAITING
    assert len(rig.peer.requests) == before


async def test_who_declines_is_told_to_the_server() -> None:
    rig = await ask(build_rig())
    await rig.decide(DecisionVerdict.DENY)
    assert "not booked: decline" in (await get_result(rig)).content
    assert (rig.ticket.approved, rig.ticket.unanswered) == (None, "denied")


async def test_a_question_that_nobody_answered_in_time_is_cancelled_at_the_server() -> None:
    rig = await ask(build_rig())
    rig.clock.turn(LIFETIME + timedelta(minutes=1))
    assert "not booked: cancel" in (await get_result(rig)).content
    assert (rig.ticket.approved, rig.ticket.unanswered) == (None, "approval_expired")


async def test_an_approval_is_no_answer() -> None:
    rig = await ask(build_rig())
    rig.memory.approvals[rig.approval.id] = replace(
        rig.approval, state=ApprovalState.APPROVED, decided=sign(rig.approval, edited=json.dumps(ANSWER))
    )
    assert (await get_result(rig)).code == "answer_not_sent"
    assert rig.count_calls() == 1


async def test_an_answer_that_nobody_signed_is_not_sent() -> None:
    rig = await ask(build_rig())
    forged = sign(rig.approval, key=STRANGER, verdict=DecisionVerdict.ANSWER, sends_max=0, edited=json.dumps(ANSWER))
    rig.memory.approvals[rig.approval.id] = replace(rig.approval, state=ApprovalState.ANSWERED, decided=forged)
    assert (await get_result(rig)).code == "answer_not_sent"
    assert rig.count_calls() == 1


async def test_an_answer_that_was_changed_after_it_was_signed_is_not_sent() -> None:
    rig = await ask(build_rig())
    await rig.answer(ANSWER)
    decided = rig.approval.decided
    assert decided is not None
    changed = replace(
        decided, decision=replace(decided.decision, edited=json.dumps({"booking": {"people": 9, "hour": "18:00"}}))
    )
    rig.memory.approvals[rig.approval.id] = replace(rig.approval, decided=changed)
    assert (await get_result(rig)).code == "answer_not_sent"


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"booking": {"people": 4}},
        {"booking": {"people": 40, "hour": "20:00"}},
        {"booking": {"people": "4", "hour": "20:00"}},
        {"booking": {"people": 4, "hour": "21:00"}},
        {"booking": {"people": 4, "hour": "20:00", "more": "x"}},
        {**ANSWER, "other": {}},
    ],
)
async def test_an_answer_that_does_not_fit_is_not_sent(answer: dict[str, Any]) -> None:
    rig = await ask(build_rig())
    await rig.answer(answer)
    assert (await get_result(rig)).code == "answer_not_sent"
    assert rig.count_calls() == 1


async def test_a_page_is_consented_to_and_never_opened() -> None:
    rig = await ask(RemoteRig(tool="desk__link_account", arguments={}))
    question = json.loads(rig.approval.form)["what"]["questions"][0]
    assert (question["mode"], question["url"].startswith("https://tools.example.com/link?state=")) == ("url", True)
    await rig.answer({"link": {}})
    assert (await get_result(rig)).ok
    assert all(method == b"" or b"jsonrpc" in method for _, method in rig.peer.requests)


async def test_an_answer_whose_outcome_is_lost_is_in_doubt_and_not_sent_again() -> None:
    rig = await ask(build_rig())
    await rig.answer(ANSWER)
    rig.peer.loses = 1
    ticket = await rig.send()
    assert (ticket.in_doubt, rig.count_calls()) == (True, 2)


async def test_an_instance_that_dies_after_an_answer_was_sent_leaves_it_in_doubt() -> None:
    rig = await ask(build_rig())
    await rig.answer(ANSWER)
    claimed = await rig.tools.tickets.claim(rig.build_request(), tool="mcp_tool", now=rig.clock.now())
    assert claimed.ticket.deadline is not None
    rig.clock.turn(timedelta(minutes=2))
    ticket = await rig.send()
    assert (ticket.in_doubt, rig.count_calls()) == (True, 1)


async def test_what_goes_on_of_another_call_is_not_gone_on_with() -> None:
    rig = await ask(build_rig())
    other = await ask(build_rig())
    await rig.answer(ANSWER)
    stolen = replace(rig.ticket, continuation=rig.ticket.continuation[:-1] + b"x")
    rig.memory.tickets["e"][0] = stolen
    assert not (await get_result(rig)).ok
    assert (rig.count_calls(), other.count_calls()) == (1, 1)


async def test_a_server_of_2025_whose_question_would_hold_the_call_open_is_offered_no_person() -> None:
    rules = replace(RemoteRig().rules, revisions=("2025-11-25",), answers="sse")
    rig = build_rig(rules=rules)
    await rig.begin()
    assert "this client cannot be asked" in (await get_result(rig)).content
    assert rig.peer.server.report()["answered"] == []


async def test_a_form_that_asks_for_a_secret_is_declined_without_asking_anybody() -> None:
    rig = build_rig()
    await rig.begin()
    rig.peer.server = rig.with_form(
        {"type": "object", "properties": {"apiKey": {"type": "string", "title": "Your API key"}}, "required": ["apiKey"]}
    )
    result = await get_result(rig)
    assert "asked a person something that nobody is asked" in result.content
    assert not rig.memory.approvals


async def test_a_question_that_repeats_the_servers_key_is_not_shown_to_anybody() -> None:
    rig = build_rig()
    await rig.begin()
    rig.peer.server = rig.with_form({"type": "object", "properties": {"x": {"type": "string", "description": API_KEY}}})
    assert "it holds a credential" in (await get_result(rig)).content
    assert not rig.memory.approvals


@pytest.mark.parametrize(
    "change",
    [
        {"x": "Ж" * 200_000},
        {"properties": {"day": {"type": "string", "format": "ﷺ" * 10_000}}},
        {"properties": {"day": {"type": "string", "title": "ﷺ" * 40}}},
    ],
)
async def test_a_form_that_takes_long_to_judge_is_declined(change: dict[str, Any]) -> None:
    rig = build_rig()
    rig.peer.server = rig.with_form({"type": "object", "properties": {"day": {"type": "string"}}, **change})
    await rig.begin()
    result = (await rig.send()).result
    assert result is not None
    assert "It was declined." in result.content
    assert not rig.memory.approvals
