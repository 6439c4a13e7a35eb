"""Rules that say which calls wait for a person: of a task, an agent or a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field, StrictStr

from ferryman.domain.approvals.rules import RULES_MAX, AmountLimit, ApprovalRule, ConfirmationMode
from ferryman.serving.api.shapes.shape import Amount, Credits, RequestShape, ResponseShape


class AmountLimitRequest(RequestShape):
    """A rule matches where the argument, a path with dots such as `body.amount`, is above a number, or is no number."""

    argument: StrictStr
    above: Amount


class ApprovalRuleRequest(RequestShape):
    """A rule: of `tools`, `hosts` and `methods`, each that is not empty has to match, and so has the `amount`."""

    mode: ConfirmationMode = Field(
        description="always: it waits; when_untrusted: where untrusted text may have decided where it goes; never: it does not"
    )
    tools: tuple[StrictStr, ...] = Field(default=(), description="Names of tools, at most 20; empty: any")
    hosts: tuple[StrictStr, ...] = Field(
        default=(), description="Hosts, as api.example.com or *.example.com, at most 20; empty: any"
    )
    methods: tuple[StrictStr, ...] = Field(default=(), description="HTTP methods; empty: any")
    amount: AmountLimitRequest | None = None


Rules = Annotated[
    tuple[ApprovalRuleRequest, ...],
    Field(
        max_length=RULES_MAX,
        description="Which calls wait for a person: the first rule that matches counts, and of task, agent and workspace the "
        "strictest; a call that no rule matches is when_untrusted. A tool that needs confirmation is always asked about",
    ),
]


class AmountLimitResponse(ResponseShape):
    """The argument that a rule looks at, and the number that it has to be above."""

    argument: str
    above: Credits


class ApprovalRuleResponse(ResponseShape):
    """A rule as it is stored."""

    mode: ConfirmationMode
    tools: tuple[str, ...]
    hosts: tuple[str, ...]
    methods: tuple[str, ...]
    amount: AmountLimitResponse | None


class ApprovalRulesResponse(ResponseShape):
    """The rules of each level, as they were when the execution began."""

    task: tuple[ApprovalRuleResponse, ...]
    agent: tuple[ApprovalRuleResponse, ...]
    workspace: tuple[ApprovalRuleResponse, ...]


def build_rules(dumped: Iterable[Mapping[str, Any]]) -> tuple[ApprovalRule, ...]:
    """Return the rules that a request's body holds, as pydantic dumps them."""
    return tuple(_build_rule(rule) for rule in dumped)


def _build_rule(rule: Mapping[str, Any]) -> ApprovalRule:
    # a change is dumped without what it leaves out
    amount = rule.get("amount")
    limit = None if amount is None else AmountLimit(argument=amount["argument"], above=Decimal(amount["above"]))
    lists = {name: tuple(rule.get(name, ())) for name in ("tools", "hosts", "methods")}
    return ApprovalRule(mode=rule["mode"], amount=limit, **lists)
