"""Confirming a call: who is asked, what counts as approved, and what a model reads of a decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.approvals.rules import AmountLimit, ApprovalRule, ApprovalRules, ConfirmationMode
from ferryman.domain.approvals.standing import StandingApproval, encode_standing
from ferryman.domain.calls.call import TicketState
from ferryman.domain.labels.label import OWNED
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import START
from ferryman.ports.errors import NotSentError, UnavailableError
from tests.campaigns.approvals.rig import ALWAYS, ARGUMENTS, KEY, POLICY, TOOL, Rig, State, sign
from tests.campaigns.approvals.sends import forget_outcome


def with_rules(*rules: ApprovalRule) -> State:
    return State(policy=replace(POLICY, approvals=ApprovalRules(task=rules)))


OTHER_HOST = ApprovalRule(mode=ConfirmationMode.ALWAYS, hosts=("files.stripe.com",))


@pytest.mark.parametrize("rules", [(), (OTHER_HOST,)])
async def test_a_call_that_no_rule_is_about_waits_where_others_may_have_decided(rules: tuple[ApprovalRule, ...]) -> None:
    state = with_rules(*rules)
    rig = Rig(replace(state, flow=OWNED))
    assert (await rig.send(), rig.ticket().approved) == (1, None)
    assert await Rig(state).send() == 0


async def test_never_lets_a_call_go_also_where_a_stranger_decided_where() -> None:
    assert await Rig(with_rules(ApprovalRule(mode=ConfirmationMode.NEVER))).send() == 1


async def test_no_rule_lets_a_call_go_whose_tool_needs_confirmation(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = TOOLS["api_call"]
    monkeypatch.setitem(TOOLS, "api_call", replace(tool, policy=replace(tool.policy, needs_confirmation=True)))
    rig = Rig(with_rules(ApprovalRule(mode=ConfirmationMode.NEVER)))
    assert (await rig.send(), rig.is_asked()) == (0, True)


async def test_a_call_of_a_rule_waits_and_says_what_it_would_send() -> None:
    rig = Rig()
    assert await rig.send() == 0
    assert (rig.ticket().state, rig.ticket().form_digest) == (TicketState.WAITING, rig.approval().digest)
    assert '"url":"https://api.stripe.com/v1/refunds?expand=charge"' in rig.approval().form
    assert rig.approval().host == "api.stripe.com"


async def test_an_untrusted_call_waits_where_a_trusted_one_does_not() -> None:
    state = replace(with_rules(ApprovalRule(mode=ConfirmationMode.WHEN_UNTRUSTED)), origins=None)
    assert await Rig(state).send() == 0
    assert await Rig(replace(state, flow=OWNED)).send() == 1


async def test_a_call_that_a_person_approved_is_sent_and_says_who() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide(by="person_b")
    assert await rig.send() == 1
    approved = rig.ticket().approved
    assert approved is not None
    assert (approved.approval, approved.digest, approved.by) == (rig.approval().id, rig.approval().digest, "person_b")


async def test_a_call_that_is_undecided_waits_for_the_same_approval() -> None:
    rig = Rig()
    await rig.send()
    before = rig.approval()
    rig.clock.turn(5)
    assert (await rig.send(), rig.approval(), len(rig.memory.approvals)) == (0, before, 1)


async def test_a_denied_call_is_refused_with_the_reason_of_the_person() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide(verdict=DecisionVerdict.DENY, sends_max=0, reason="ask the customer first")
    assert await rig.send() == 0
    result = rig.ticket().result
    assert result is not None
    assert (result.code, result.blocked) == ("denied", True)
    assert "ask the customer first" in result.content
    assert result.suggestion is not None


async def test_a_denial_that_nobody_signed_is_asked_about_again() -> None:
    rig = Rig()
    await rig.send()
    forged = replace(sign(rig.approval(), verdict=DecisionVerdict.DENY, sends_max=0), signature="00" * 64)
    rig.memory.approvals[rig.approval().id] = replace(rig.approval(), state=ApprovalState.DENIED, decided=forged)
    assert (await rig.send(), rig.is_asked()) == (0, True)


async def test_a_call_that_nobody_decided_about_in_time_is_refused() -> None:
    rig = Rig()
    await rig.send()
    rig.clock.turn(31 * 86_400)
    assert await rig.send() == 0
    result = rig.ticket().result
    assert result is not None
    assert result.code == "approval_expired"


async def test_one_decision_is_for_as_many_calls_as_it_says() -> None:
    rig = Rig(calls=3)
    await rig.send(0)
    await rig.decide(0, sends_max=2)
    assert [await rig.send(seq) for seq in range(3)] == [1, 1, 0]
    assert rig.is_asked(2)


async def test_a_decision_for_one_send_is_for_its_own_call_whatever_the_store_says_was_used() -> None:
    rig = Rig(calls=2)
    await rig.send(0)
    await rig.decide(0)
    assert await rig.send(0) == 1
    approval = rig.approval(0)
    rig.memory.approvals[approval.id] = replace(approval, sent=())
    assert (await rig.send(1), rig.is_asked(1)) == (0, True)


async def test_who_approved_says_for_how_many_sends() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide(sends_max=3)
    await rig.send()
    approved = rig.ticket().approved
    assert approved is not None
    assert approved.sends_max == 3


async def test_who_approved_says_which_value_they_declassified() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide(declassified="ch_abcdefgh")
    await rig.send()
    approved = rig.ticket().approved
    assert approved is not None
    assert approved.declassified == "ch_abcdefgh"


async def test_a_declassified_value_that_was_written_after_the_signature_sends_nothing() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide()
    approval = rig.approval()
    assert approval.decided is not None
    decision = replace(approval.decided.decision, declassified="ch_abcdefgh")
    rig.memory.approvals[approval.id] = replace(approval, decided=replace(approval.decided, decision=decision))
    assert (await rig.send(), rig.ticket().approved) == (0, None)


async def test_the_same_call_is_sent_again_under_the_send_that_it_used() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide()
    await rig.send()
    forget_outcome(rig, 0)
    assert (await rig.send(), rig.approval().sent) == (1, (0,))


async def test_a_call_that_may_have_been_sent_is_in_doubt_rather_than_asked_about() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide()
    await rig.send()
    forget_outcome(rig, 0)
    rig.place(replace(rig.state, arguments={**ARGUMENTS, "body": {"charge": "ch_other"}}))
    assert await rig.send() == 0
    result = rig.ticket().result
    assert result is not None
    assert (result.code, rig.ticket().in_doubt) == ("in_doubt", True)


async def test_what_changed_since_is_asked_about_and_shows_what_was_approved_last() -> None:
    rig = Rig()
    await rig.send()
    await rig.decide()
    before = rig.approval()
    rig.place(replace(rig.state, arguments={**ARGUMENTS, "body": {"charge": "ch_other"}}))
    assert (await rig.send(), rig.approval().before) == (0, before.id)


async def test_an_approval_from_beforehand_covers_calls_and_is_named() -> None:
    rig = Rig()
    standing = StandingApproval(
        id="s", owner="owner_a", workspace="workspace_a", tool="api_call", uses_max=1, by="person_a", created_at=START,
        expires_at=START + timedelta(days=1), key=1,
    )  # fmt: skip
    signed = replace(standing, signature=KEY.sign(encode_standing(standing)).hex())
    rig.memory.standing_approvals["s"] = signed
    assert await rig.send() == 1
    approved = rig.ticket().approved
    assert approved is not None
    assert (approved.approval, approved.is_standing) == ("s", True)


async def test_an_approval_from_beforehand_does_not_cover_a_tool_that_was_declared_again() -> None:
    rig = Rig(State(tool="refund", arguments={}, declared=replace(TOOL, url="https://api.stripe.com/v1/payouts")))
    standing = StandingApproval(
        id="s", owner="owner_a", workspace="workspace_a", tool="refund", uses_max=1, by="person_a", created_at=START,
        expires_at=START + timedelta(days=1), key=1,
    )  # fmt: skip
    rig.memory.standing_approvals["s"] = replace(standing, signature=KEY.sign(encode_standing(standing)).hex())
    assert (await rig.send(), rig.is_asked()) == (0, True)


@pytest.mark.parametrize(("url", "sent"), [(TOOL.url, 1), ("https://api.stripe.com/v1/payouts", 0)])
async def test_an_approval_from_beforehand_is_for_the_declaration_as_it_was(url: str, sent: int) -> None:
    tool = replace(TOOL, url=url)
    policy = replace(POLICY, declared={"refund": tool.fingerprint})
    rig = Rig(State(tool="refund", arguments={}, declared=tool, policy=policy))
    standing = StandingApproval(
        id="s", owner="owner_a", workspace="workspace_a", tool="refund", fingerprint=TOOL.fingerprint, uses_max=1,
        by="person_a", created_at=START, expires_at=START + timedelta(days=1), key=1,
    )  # fmt: skip
    rig.memory.standing_approvals["s"] = replace(standing, signature=KEY.sign(encode_standing(standing)).hex())
    assert await rig.send() == sent


async def test_a_call_that_nobody_can_be_asked_about_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    deps = replace(rig.deps(), approving=None)
    monkeypatch.setattr(rig, "deps", lambda: deps)
    assert await rig.send() == 0
    result = rig.ticket().result
    assert result is not None
    assert result.code == "not_approvable"


async def test_a_store_that_does_not_answer_gives_the_ticket_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()

    async def fail(*_: object) -> None:
        raise UnavailableError("Firestore did not answer")

    monkeypatch.setattr(MemoryApprovals, "list_of", fail)
    with pytest.raises(NotSentError):
        await rig.send()
    assert rig.ticket().state is TicketState.INTENDED


async def test_an_amount_decides_whether_a_person_is_asked() -> None:
    above = ApprovalRule(mode=ConfirmationMode.ALWAYS, amount=AmountLimit(argument="body.amount", above=Decimal(1250)))
    state = replace(with_rules(above), flow=OWNED)
    assert await Rig(state).send() == 1
    rig = Rig(state)
    rig.place(replace(rig.state, arguments={**ARGUMENTS, "body": {"amount": 1251}}))
    assert await rig.send() == 0


def test_the_rules_of_the_rig_ask_about_every_call() -> None:
    assert POLICY.approvals == ALWAYS
