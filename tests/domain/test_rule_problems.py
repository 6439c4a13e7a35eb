"""Rules of approvals: what keeps them from being stored, and what they say of a tool."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ferryman.domain.approvals.rule_problems import find_rule_problems
from ferryman.domain.approvals.rules import RULES_MAX, AmountLimit, ApprovalRule, ApprovalRules, ConfirmationMode
from ferryman.domain.approvals.summary import AskingMode, find_asking

ALWAYS, NEVER = ConfirmationMode.ALWAYS, ConfirmationMode.NEVER


def rule(**fields: object) -> ApprovalRule:
    return ApprovalRule(**{"mode": ALWAYS, **fields})  # type: ignore[arg-type]


GOOD = (
    rule(tools=("http_post", "orchestrator__http_get")),
    rule(hosts=("api.example.com", "*.example.com", "localhost")),
    rule(methods=("POST", "DELETE")),
    rule(amount=AmountLimit(argument="body.amount", above=Decimal("0.5"))),
)


def test_rules_as_they_should_be_have_no_problem() -> None:
    assert list(find_rule_problems(GOOD)) == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (rule(tools=("a b",)), "approvals.0.tools.0"),
        (rule(tools=("http_get", "orchestrator__http_get")), "approvals.0.tools.1"),
        (rule(tools=tuple(f"t{number}" for number in range(21))), "approvals.0.tools"),
        (rule(hosts=("*",)), "approvals.0.hosts.0"),
        (rule(hosts=("*.*.test",)), "approvals.0.hosts.0"),
        (rule(hosts=("A.test",)), "approvals.0.hosts.0"),
        (rule(hosts=("https://a.test",)), "approvals.0.hosts.0"),
        (rule(hosts=("a.test", "a.test")), "approvals.0.hosts.1"),
        (rule(hosts=(f"{'a' * 63}." * 4 + "test",)), "approvals.0.hosts.0"),
        (rule(methods=("post",)), "approvals.0.methods.0"),
        (rule(methods=("POST", "POST")), "approvals.0.methods.1"),
        (rule(amount=AmountLimit(argument="", above=Decimal(1))), "approvals.0.amount.argument"),
        (rule(amount=AmountLimit(argument="a..b", above=Decimal(1))), "approvals.0.amount.argument"),
        (rule(amount=AmountLimit(argument="a", above=Decimal("NaN"))), "approvals.0.amount.above"),
    ],
)
def test_a_rule_that_is_wrong_is_named(wrong: ApprovalRule, field: str) -> None:
    assert [problem.field for problem in find_rule_problems((wrong,))] == [field]


def test_there_are_so_many_rules_at_most() -> None:
    assert [problem.field for problem in find_rule_problems((rule(),) * (RULES_MAX + 1))] == ["approvals"]


def test_the_strictest_level_says_whether_a_tool_asks() -> None:
    rules = ApprovalRules(task=(rule(mode=NEVER),), agent=(rule(mode=ConfirmationMode.WHEN_UNTRUSTED),))
    assert find_asking(rules, "http_get", needs_confirmation=False) is AskingMode.WHEN_UNTRUSTED


def test_within_a_level_the_first_rule_without_a_condition_decides() -> None:
    rules = ApprovalRules(task=(rule(mode=NEVER, tools=("http_get",)), rule()))
    asking = [find_asking(rules, tool, needs_confirmation=False) for tool in ("http_get", "http_post")]
    assert asking == [AskingMode.NEVER, AskingMode.ALWAYS]


def test_a_condition_makes_it_depend() -> None:
    rules = ApprovalRules(task=(rule(hosts=("a.test",)),))
    assert find_asking(rules, "http_get", needs_confirmation=False) is AskingMode.DEPENDS


def test_a_tool_that_needs_confirmation_always_asks() -> None:
    assert find_asking(ApprovalRules(task=(rule(mode=NEVER),)), "t", needs_confirmation=True) is AskingMode.ALWAYS
