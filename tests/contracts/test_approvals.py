"""Approvals: decided once, used as often as was decided, withdrawn with their execution."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ferryman.domain.approvals.approval import Approval, ApprovalDecidedError, ApprovalExpiredError, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.approvals.notice import ApprovalNotice
from ferryman.domain.delivery import AlertState
from ferryman.domain.executions.execution import OWNER
from ferryman.domain.page import Position

from .approvals import SECOND, ask, build_approval, journal_calls, sign
from .conftest import Stores
from .values import DONE, LATER, read_execution


async def decide(
    stores: Stores, approval: Approval, verdict: DecisionVerdict = DecisionVerdict.APPROVE, sends: int = 1
) -> Approval:
    return await stores.approvals.decide(sign(approval, verdict, sends=sends), now=LATER)


async def test_what_was_asked_is_read_as_it_was_stored(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    assert await stores.approvals.get(approval.id) == approval


async def test_an_unknown_approval_is_none(stores: Stores) -> None:
    assert await stores.approvals.get("appr_0") is None


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        (DecisionVerdict.APPROVE, ApprovalState.APPROVED),
        (DecisionVerdict.DENY, ApprovalState.DENIED),
        (DecisionVerdict.EDIT, ApprovalState.EDITED),
    ],
)
async def test_a_decision_is_stored_with_its_signature(stores: Stores, verdict: DecisionVerdict, state: ApprovalState) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    decided = await decide(stores, approval, verdict)
    assert decided == replace(approval, state=state, decided=sign(approval, verdict))
    assert await stores.approvals.get(approval.id) == decided


async def test_deciding_the_same_again_changes_nothing_no_matter_who_does(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    decided = await decide(stores, approval)
    assert await stores.approvals.decide(sign(approval, by="bob"), now=LATER + SECOND) == decided


async def test_deciding_otherwise_is_refused(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    decided = await decide(stores, approval)
    with pytest.raises(ApprovalDecidedError):
        await decide(stores, approval, DecisionVerdict.DENY)
    assert await stores.approvals.get(approval.id) == decided


async def test_of_two_decisions_at_once_one_counts(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    both = (decide(stores, approval, verdict) for verdict in (DecisionVerdict.APPROVE, DecisionVerdict.DENY))
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert sum(isinstance(outcome, Approval) for outcome in outcomes) == 1


@pytest.mark.parametrize("field", ["approval", "workspace", "owner", "execution", "digest"])
async def test_a_decision_about_something_else_finds_no_approval(stores: Stores, field: str) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    signed = sign(approval)
    other = replace(signed, decision=replace(signed.decision, **{field: "other"}))
    with pytest.raises(KeyError):
        await stores.approvals.decide(other, now=LATER)


async def test_nothing_is_decided_after_the_time_for_it(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    with pytest.raises(ApprovalExpiredError):
        await stores.approvals.decide(sign(approval), now=approval.expires_at)


async def test_nothing_is_decided_about_a_cancelled_execution(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    await stores.executions.cancel("exec_1", by=OWNER, now=LATER)
    with pytest.raises(ApprovalDecidedError):
        await decide(stores, approval)


async def test_nothing_is_decided_about_an_execution_that_has_ended(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    await stores.executions.finish(await read_execution(stores), DONE, now=LATER)
    with pytest.raises(ApprovalDecidedError):
        await decide(stores, approval)


async def test_one_decision_is_for_as_many_sends_as_was_decided(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    await decide(stores, approval, sends=2)
    await stores.approvals.use(approval.id, seq=0, now=LATER)
    assert (await stores.approvals.use(approval.id, seq=1, now=LATER)).sent == (0, 1)
    with pytest.raises(ApprovalDecidedError):
        await stores.approvals.use(approval.id, seq=2, now=LATER)


async def test_a_call_that_is_sent_again_uses_no_second_send(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    await decide(stores, approval)
    first = await stores.approvals.use(approval.id, seq=0, now=LATER)
    assert await stores.approvals.use(approval.id, seq=0, now=LATER) == first


async def test_one_send_is_used_by_one_of_many_calls_at_once(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    await decide(stores, approval)
    uses = (stores.approvals.use(approval.id, seq=seq, now=LATER) for seq in range(4))
    outcomes = await asyncio.gather(*uses, return_exceptions=True)
    assert sum(isinstance(outcome, Approval) for outcome in outcomes) == 1


async def test_what_nobody_approved_is_not_used(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    with pytest.raises(ApprovalDecidedError):
        await stores.approvals.use(approval.id, seq=0, now=LATER)


async def test_what_waits_is_withdrawn_and_what_was_decided_stays(stores: Stores) -> None:
    await journal_calls(stores)
    decided = await decide(stores, await ask(stores, 0))
    waits = await ask(stores, 1, digest="d2")
    await stores.approvals.withdraw("exec_1", now=LATER)
    assert [item.state for item in await stores.approvals.list_of("exec_1")] == [decided.state, ApprovalState.WITHDRAWN]
    with pytest.raises(ApprovalDecidedError):
        await decide(stores, waits)


async def test_a_list_has_the_newest_first_and_no_forms(stores: Stores) -> None:
    await journal_calls(stores)
    first = await ask(stores, 0)
    second = await ask(stores, 1, digest="d2", at=LATER + SECOND)
    page = await stores.approvals.list(first.workspace)
    assert page.items == (replace(second, form=""), replace(first, form=""))


async def test_a_list_goes_on_where_the_page_before_ended(stores: Stores) -> None:
    await journal_calls(stores)
    first = await ask(stores, 0)
    second = await ask(stores, 1, digest="d2", at=LATER + SECOND)
    page = await stores.approvals.list(first.workspace, most=1)
    assert ([item.id for item in page.items], page.end) == ([second.id], Position(second.created_at, second.id))
    rest = await stores.approvals.list(first.workspace, after=page.end, most=1)
    assert ([item.id for item in rest.items], rest.end) == ([first.id], None)


async def test_a_list_is_of_one_state_and_one_execution_where_they_are_named(stores: Stores) -> None:
    await journal_calls(stores)
    decided = await decide(stores, await ask(stores, 0))
    waits = await ask(stores, 1, digest="d2", at=LATER + SECOND)
    here, pending = decided.workspace, ApprovalState.PENDING
    assert [item.id for item in await stores.approvals.list(here, state=pending)] == [waits.id]
    assert [item.id for item in await stores.approvals.list(here, execution="exec_1")] == [waits.id, decided.id]
    assert [item.id for item in await stores.approvals.list(here, state=pending, execution="exec_1")] == [waits.id]
    assert not (await stores.approvals.list(here, execution="exec_2")).items
    assert not (await stores.approvals.list("elsewhere")).items


async def test_the_last_approved_call_of_a_tool_is_found(stores: Stores) -> None:
    await journal_calls(stores)
    first, second = await ask(stores, 0), await ask(stores, 1, digest="d2", at=LATER + SECOND)
    here = first.workspace
    assert await stores.approvals.find_last(here, "api_call") is None
    last = await stores.approvals.decide(sign(first, at=LATER + 3 * SECOND), now=LATER + 3 * SECOND)
    await stores.approvals.decide(sign(second, at=LATER + 2 * SECOND), now=LATER + 2 * SECOND)
    assert await stores.approvals.find_last(here, "api_call") == last
    assert await stores.approvals.find_last(here, "webhook") is None
    assert await stores.approvals.find_last("elsewhere", "api_call") is None


async def test_an_approval_of_no_call_is_never_decided(stores: Stores) -> None:
    with pytest.raises(KeyError):
        await decide(stores, build_approval())


async def test_what_became_of_a_notice_is_stored_until_it_is_settled(stores: Stores) -> None:
    await journal_calls(stores)
    approval = await ask(stores)
    tried = ApprovalNotice(attempts=1, reason="timed out")
    sent = ApprovalNotice(state=AlertState.DELIVERED, attempts=2, status=204, settled_at=LATER)
    assert await stores.approvals.record_notice(approval.id, tried) == tried
    assert await stores.approvals.record_notice(approval.id, replace(tried, reason="again")) == tried
    assert await stores.approvals.record_notice(approval.id, sent) == sent
    assert await stores.approvals.record_notice(approval.id, replace(sent, attempts=3)) == sent
    assert await stores.approvals.get(approval.id) == replace(approval, notice=sent)


async def test_what_was_decided_stays_when_its_notice_is_settled(stores: Stores) -> None:
    await journal_calls(stores)
    decided = await decide(stores, await ask(stores))
    sent = ApprovalNotice(state=AlertState.FAILED, attempts=1)
    await stores.approvals.record_notice(decided.id, sent)
    assert await stores.approvals.get(decided.id) == replace(decided, notice=sent)
