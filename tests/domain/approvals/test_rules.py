"""Rules: which calls wait for a person, at which level whatever is said, and where nothing is."""

from __future__ import annotations

import pytest

from ferryman.domain.approvals.rules import NO_RULES, ApprovalRule, ApprovalRules, CallFacts, ConfirmationMode, needs_approval
from ferryman.domain.approvals.summary import AskingMode, find_asking

NEVER, WHEN_UNTRUSTED, ALWAYS = (ApprovalRule(mode=mode) for mode in ConfirmationMode)
OF_ANOTHER = ApprovalRule(mode=ConfirmationMode.NEVER, tools=("http_get",))
OF_A_HOST = ApprovalRule(mode=ConfirmationMode.NEVER, hosts=("a.test",))


def asks(rules: ApprovalRules, *, is_untrusted: bool) -> bool:
    return needs_approval(rules, CallFacts(tools=("http_post",), is_untrusted=is_untrusted), needs_confirmation=False)


@pytest.mark.parametrize("rules", [NO_RULES, ApprovalRules(task=(OF_ANOTHER,)), ApprovalRules(agent=(WHEN_UNTRUSTED,))])
def test_where_no_rule_matches_untrusted_text_does_not_decide_without_a_person(rules: ApprovalRules) -> None:
    assert asks(rules, is_untrusted=True)
    assert not asks(rules, is_untrusted=False)


@pytest.mark.parametrize("level", ["task", "agent", "workspace"])
def test_a_person_opts_out_at_any_level(level: str) -> None:
    assert not asks(ApprovalRules(**{level: (NEVER,)}), is_untrusted=True)


@pytest.mark.parametrize("other", [WHEN_UNTRUSTED, ALWAYS])
def test_another_level_may_be_stricter(other: ApprovalRule) -> None:
    assert asks(ApprovalRules(task=(NEVER,), workspace=(other,)), is_untrusted=True)


@pytest.mark.parametrize(
    ("rules", "mode"),
    [
        (NO_RULES, AskingMode.WHEN_UNTRUSTED),
        (ApprovalRules(task=(NEVER,)), AskingMode.NEVER),
        (ApprovalRules(task=(OF_ANOTHER,)), AskingMode.WHEN_UNTRUSTED),
        (ApprovalRules(task=(OF_A_HOST,)), AskingMode.DEPENDS),
        (ApprovalRules(task=(OF_A_HOST, NEVER)), AskingMode.NEVER),
        (ApprovalRules(task=(OF_A_HOST,), agent=(ALWAYS,)), AskingMode.ALWAYS),
        (ApprovalRules(task=(OF_A_HOST,), agent=(WHEN_UNTRUSTED,)), AskingMode.WHEN_UNTRUSTED),
        (ApprovalRules(task=(NEVER,), agent=(ALWAYS,)), AskingMode.ALWAYS),
    ],
)
def test_the_rules_alone_tell_whether_calls_of_a_tool_wait(rules: ApprovalRules, mode: AskingMode) -> None:
    assert find_asking(rules, "http_post", needs_confirmation=False) is mode
    assert find_asking(rules, "http_post", needs_confirmation=True) is AskingMode.ALWAYS
