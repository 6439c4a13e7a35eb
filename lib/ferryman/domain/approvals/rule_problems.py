"""What keeps rules of approvals from being stored: of a task, an agent or a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ferryman.domain.approvals.rules import RULES_MAX, AmountLimit, ApprovalRule
from ferryman.domain.problem import Problem
from ferryman.domain.tools.names import find_list_problems

LISTED_MAX = 20
"""The names in one list of a rule."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ARGUMENT_CHARACTERS_MAX = 200

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_ARGUMENT = re.compile(r"[^.\s]+(?:\.[^.\s]+)*")


def find_rule_problems(rules: Sequence[ApprovalRule]) -> Iterator[Problem]:
    """Yield the problems of the field `approvals`. Tools may be named that no catalog has: a task may declare its own."""
    if len(rules) > RULES_MAX:
        yield Problem("approvals", f"must be at most {RULES_MAX} rules, are {len(rules)}")
        return
    for index, rule in enumerate(rules):
        field = f"approvals.{index}"
        yield from _find_length_problems(f"{field}.tools", rule.tools) or find_list_problems(f"{field}.tools", rule.tools)
        yield from find_host_problems(f"{field}.hosts", rule.hosts)
        yield from find_method_problems(f"{field}.methods", rule.methods)
        if rule.amount is not None:
            yield from _find_amount_problems(f"{field}.amount", rule.amount)


def find_host_problems(field: str, hosts: Sequence[str]) -> Iterator[Problem]:
    """Yield the problems of a list of patterns of hosts."""
    if problems := _find_length_problems(field, hosts):
        yield from problems
        return
    for index, host in enumerate(hosts):
        if len(host) > 253 or _HOST.fullmatch(host) is None:
            yield Problem(f"{field}.{index}", "must be a host in lower case, as api.example.com, or *.example.com")
        elif host in hosts[:index]:
            yield Problem(f"{field}.{index}", "is listed twice")


def find_method_problems(field: str, methods: Sequence[str]) -> Iterator[Problem]:
    """Yield the problems of a list of methods."""
    if problems := _find_length_problems(field, methods):
        yield from problems
        return
    for index, method in enumerate(methods):
        if method not in METHODS:
            yield Problem(f"{field}.{index}", f"must be one of {', '.join(METHODS)}")
        elif method in methods[:index]:
            yield Problem(f"{field}.{index}", "is listed twice")


def _find_amount_problems(field: str, amount: AmountLimit) -> Iterator[Problem]:
    if len(amount.argument) > ARGUMENT_CHARACTERS_MAX or _ARGUMENT.fullmatch(amount.argument) is None:
        message = f"must name an argument, as amount or body.amount, in at most {ARGUMENT_CHARACTERS_MAX} characters"
        yield Problem(f"{field}.argument", message)
    if not amount.above.is_finite():
        yield Problem(f"{field}.above", "must be a number")


def _find_length_problems(field: str, names: Sequence[str]) -> list[Problem]:
    return [Problem(field, f"must be at most {LISTED_MAX}, are {len(names)}")] if len(names) > LISTED_MAX else []
