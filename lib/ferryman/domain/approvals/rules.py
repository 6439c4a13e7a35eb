"""Rules of task, agent and workspace that say which calls wait for a person.

Within a level the first rule that matches a call counts; of the levels the strictest answer does. A call that no rule of any
level matches is judged by the flow policy, as with `when_untrusted`: `never`, which a person writes, is the way out. Each call
of a tool that needs confirmation is asked about: no rule switches that off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from ferryman.domain.http.host import is_covered
from ferryman.domain.tools.names import names_tool

RULES_MAX = 50
"""The rules that one task, agent or workspace has."""


class ConfirmationMode(StrEnum):
    """When a call waits for a person, from the least strict."""

    NEVER = "never"
    WHEN_UNTRUSTED = "when_untrusted"
    """Where untrusted text may have decided where the call's effect goes (`domain.flow`): so where no rule matches, too."""
    ALWAYS = "always"


DEFAULT_MODE = ConfirmationMode.WHEN_UNTRUSTED
"""The mode of a call that no rule of any level matches."""

_MODES = tuple(ConfirmationMode)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountLimit:
    """A rule's amount: it matches where the argument, a path with dots such as `body.amount`, is `above` a number.

    An argument that is there and is no number counts as above: nobody can say how much it is.
    """

    argument: str
    above: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """A rule. Each of `tools` (names), `hosts` (patterns as of integrations) and `methods` that is not empty has to match."""

    mode: ConfirmationMode
    tools: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    amount: AmountLimit | None = None

    def matches(self, facts: CallFacts) -> bool:
        """Tell whether the rule is about this call."""
        return (
            (not self.tools or any(names_tool(self.tools, name) for name in facts.tools))
            and (not self.hosts or (facts.host is not None and is_covered(self.hosts, facts.host)))
            and (not self.methods or (facts.method or "").upper() in self.methods)
            and (self.amount is None or _is_above(self.amount, facts.arguments))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRules:
    """The rules of each level, as they were when the execution was set up."""

    task: tuple[ApprovalRule, ...] = ()
    agent: tuple[ApprovalRule, ...] = ()
    workspace: tuple[ApprovalRule, ...] = ()


NO_RULES = ApprovalRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """What rules are about: the names that the call goes by, its host and method (None where it is no HTTP request), its
    arguments, and whether untrusted text may have decided where it goes."""

    tools: Collection[str]
    host: str | None = None
    method: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    is_untrusted: bool = False


def needs_approval(rules: ApprovalRules, facts: CallFacts, *, needs_confirmation: bool) -> bool:
    """Tell whether the call has to wait for a person."""
    if needs_confirmation:
        return True
    mode = find_strictest(_find_mode(level, facts) for level in (rules.task, rules.agent, rules.workspace))
    return mode is ConfirmationMode.ALWAYS or (mode is ConfirmationMode.WHEN_UNTRUSTED and facts.is_untrusted)


def find_strictest(answers: Iterable[ConfirmationMode | None]) -> ConfirmationMode:
    """Return the mode of a call by what each level says of it: None where no rule of the level matches."""
    return max((answer for answer in answers if answer is not None), key=_MODES.index, default=DEFAULT_MODE)


def _find_mode(level: Iterable[ApprovalRule], facts: CallFacts) -> ConfirmationMode | None:
    return next((rule.mode for rule in level if rule.matches(facts)), None)


def _is_above(amount: AmountLimit, arguments: Mapping[str, Any]) -> bool:
    value: Any = arguments
    for name in amount.argument.split("."):
        if not isinstance(value, Mapping):
            return value is not None  # such as a body as text: the amount may be in it
        if name not in value:
            return False
        value = value[name]
    if value is None:
        return False
    try:
        number = Decimal(str(value).strip()) if not isinstance(value, bool) else Decimal("NaN")
    except InvalidOperation:
        return True
    return not number.is_finite() or number > amount.above
