"""Whether calls of a tool wait for a person, as far as the rules alone tell."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from ferryman.domain.approvals.rules import ApprovalRule, ApprovalRules, ConfirmationMode
from ferryman.domain.tools.names import names_tool


class AskingMode(StrEnum):
    """Whether calls of a tool wait for a person, from the least strict."""

    NEVER = "never"
    WHEN_UNTRUSTED = "when_untrusted"
    DEPENDS = "depends"
    """On the host, the method or an amount of the call."""
    ALWAYS = "always"


_ORDER = tuple(AskingMode)


def find_asking(rules: ApprovalRules, tool: str, *, needs_confirmation: bool) -> AskingMode:
    """Return whether calls of `tool` wait for a person: the strictest that any level says."""
    if needs_confirmation:
        return AskingMode.ALWAYS
    return max((_find_asking(level, tool) for level in (rules.task, rules.agent, rules.workspace)), key=_ORDER.index)


def _find_asking(level: Iterable[ApprovalRule], tool: str) -> AskingMode:
    modes = list[ConfirmationMode]()
    for rule in level:
        if not rule.tools or names_tool(rule.tools, tool):
            modes.append(rule.mode)
            if not (rule.hosts or rule.methods or rule.amount):
                break
    else:
        modes.append(ConfirmationMode.NEVER)
    return AskingMode(modes[0]) if len(set(modes)) == 1 else AskingMode.DEPENDS
