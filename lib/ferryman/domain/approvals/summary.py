"""Whether calls of a tool wait for a person, as far as the rules alone tell."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import product

from ferryman.domain.approvals.rules import ApprovalRule, ApprovalRules, ConfirmationMode, find_strictest
from ferryman.domain.tools.names import names_tool


class AskingMode(StrEnum):
    """Whether calls of a tool wait for a person, from the least strict."""

    NEVER = "never"
    WHEN_UNTRUSTED = "when_untrusted"
    DEPENDS = "depends"
    """On the host, the method or an amount of the call."""
    ALWAYS = "always"


def find_asking(rules: ApprovalRules, tool: str, *, needs_confirmation: bool, has_effect: bool = True) -> AskingMode:
    """Return whether calls of `tool` wait for a person: the strictest that any level says.

    Nothing of untrusted text decides where a call goes that has no effect.
    """
    if needs_confirmation:
        return AskingMode.ALWAYS
    levels = [_list_modes(level, tool) for level in (rules.task, rules.agent, rules.workspace)]
    modes = {find_strictest(answers) for answers in product(*levels)}
    if not has_effect:
        modes = {ConfirmationMode.NEVER if mode is ConfirmationMode.WHEN_UNTRUSTED else mode for mode in modes}
    return AskingMode(modes.pop()) if len(modes) == 1 else AskingMode.DEPENDS


def _list_modes(level: Iterable[ApprovalRule], tool: str) -> set[ConfirmationMode | None]:
    """Return what a level may say of a call of `tool`; None where no rule of it may match."""
    modes = set[ConfirmationMode | None]()
    for rule in level:
        if not rule.tools or names_tool(rule.tools, tool):
            modes.add(rule.mode)
            if not (rule.hosts or rule.methods or rule.amount):
                return modes
    return {*modes, None}
