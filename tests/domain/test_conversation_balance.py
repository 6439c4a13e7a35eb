"""Balances of conversations: a part of the owner's balance for the length of a transaction, and a document of their own."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.credits.alert import find_alerts
from ferryman.domain.credits.balance import PARTS_MAX, CreditBalance, CreditPart, reserve_credits, settle_credits
from ferryman.domain.credits.caps import collect_caps
from ferryman.domain.credits.conversation import ConversationBalance, join_conversations, split_conversation
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.workspace import build_default_workspace
from tests.builders import START, build_execution, build_policy, build_task

EMPTY = CreditBalance(id="owner:o", month="2026-11")
PART = "conversation:a/talk"
WORKSPACE = replace(build_default_workspace("o"), id="w", conversation_credits_max=Decimal(100))
AGENT = replace(build_default_agent("o", "w"), id="a", conversation_credits_max=Decimal(80))
TASK = build_task(workspace="w", agent="a")
CAPS = collect_caps(TASK, workspace=WORKSPACE, agent=AGENT, conversation="talk")
EXECUTION = build_execution(workspace="w", agent="a", conversation="talk", policy=build_policy(caps=CAPS))
STORED = ConversationBalance(
    id="a.talk",
    owner="o",
    workspace="w",
    agent="a",
    conversation="talk",
    month="2026-11",
    credits_used=Decimal(30),
    credits_reserved=Decimal(20),
    updated_at=START,
)


@pytest.mark.parametrize(
    ("agent", "workspace", "limit", "set_by"),
    [
        (Decimal(80), Decimal(100), Decimal(80), CapKind.AGENT),
        (Decimal(100), Decimal(80), Decimal(80), CapKind.WORKSPACE),
        (None, Decimal(80), Decimal(80), CapKind.WORKSPACE),
        (Decimal(80), None, Decimal(80), CapKind.AGENT),
    ],
)
def test_the_lower_limit_of_agent_and_workspace_binds(
    agent: Decimal | None, workspace: Decimal | None, limit: Decimal, set_by: CapKind
) -> None:
    caps = collect_caps(
        TASK,
        workspace=replace(WORKSPACE, conversation_credits_max=workspace),
        agent=replace(AGENT, conversation_credits_max=agent),
        conversation="talk",
    )
    assert caps == (Cap(kind=CapKind.CONVERSATION, id="a/talk", credits=limit, set_by=set_by),)


def test_an_execution_without_a_conversation_has_no_such_cap() -> None:
    assert collect_caps(TASK, workspace=WORKSPACE, agent=AGENT) == ()


def test_a_refusal_names_the_conversation_and_what_to_do() -> None:
    balance = join_conversations(EMPTY, [replace(STORED, credits_used=Decimal(70), credits_reserved=Decimal(5))])
    with pytest.raises(InsufficientCreditsError) as refused:
        reserve_credits(balance, EXECUTION, Decimal(20))
    assert str(refused.value) == (
        "20 credits do not fit: conversation talk may use 80 credits a month, of which 70 are used and 5 reserved; lower "
        "max_credits of the task, raise conversation_credits_max of the agent, start another conversation, or wait for 2026-12 "
        "(UTC)"
    )


def test_what_is_stored_comes_back_as_it_was() -> None:
    rest, conversation = split_conversation(join_conversations(EMPTY, [STORED]), EXECUTION, now=START)
    assert (rest, conversation) == (EMPTY, STORED)


def test_the_balance_of_the_owner_is_stored_without_a_conversation() -> None:
    reserved = reserve_credits(join_conversations(EMPTY, [STORED]), EXECUTION, Decimal(2))
    rest, conversation = split_conversation(reserved, EXECUTION, now=START)
    assert set(rest.parts) == {"workspace:w", "agent:a", "task:t"}
    assert conversation == replace(STORED, credits_reserved=Decimal(22))


def test_a_conversation_in_which_nothing_was_used_is_not_stored() -> None:
    balance = reserve_credits(EMPTY, EXECUTION, Decimal(2))
    after = settle_credits(balance, EXECUTION, reserved=Decimal(2), used=Decimal(0))
    assert split_conversation(after, EXECUTION, now=START) == (EMPTY, None)


def test_a_month_that_is_over_counts_no_more_but_what_is_reserved_does() -> None:
    december = replace(EMPTY, month="2026-12")
    assert join_conversations(december, [STORED]).parts == {PART: CreditPart(credits_reserved=Decimal(20))}
    assert STORED.is_counted("2026-12")
    assert not replace(STORED, credits_reserved=Decimal(0)).is_counted("2026-12")


def test_a_conversation_takes_no_place_of_the_parts_that_are_counted() -> None:
    parts = {f"task:{number}": CreditPart(credits_used=Decimal(1), is_capped=True) for number in range(PARTS_MAX - 3)}
    rest = {f"{kind}": CreditPart(credits_used=Decimal(1), is_capped=True) for kind in ("workspace:w", "agent:a", "task:t")}
    full = join_conversations(replace(EMPTY, parts={**parts, **rest}), [STORED])
    after = reserve_credits(full, EXECUTION, Decimal(1))
    assert len(after.parts) == PARTS_MAX + 1


def test_the_thresholds_of_a_conversation_are_told() -> None:
    before = join_conversations(EMPTY, [STORED])
    after = settle_credits(before, EXECUTION, reserved=Decimal(20), used=Decimal(40))
    alerts = find_alerts(before, after, EXECUTION, now=START)
    assert [(alert.kind, alert.subject, alert.percent) for alert in alerts] == [
        (CapKind.CONVERSATION, "a/talk", 50),
        (CapKind.CONVERSATION, "a/talk", 80),
    ]
