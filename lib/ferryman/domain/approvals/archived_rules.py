"""Rules in an archive: whether nobody is asked is for a person here to say, not for a document of a stranger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ferryman.domain.approvals.rules import DEFAULT_MODE, ApprovalRule, ConfirmationMode
from ferryman.domain.copies import replace


def distrust_rules(rules: Iterable[ApprovalRule]) -> tuple[ApprovalRule, ...]:
    """Return rules as they are imported: `never` becomes the mode of a call that no rule matches, in the same place."""
    return tuple(replace(rule, mode=DEFAULT_MODE) if rule.mode is ConfirmationMode.NEVER else rule for rule in rules)


def find_distrusted(line: Mapping[str, Any]) -> Iterator[int]:
    """Yield the numbers, from 0, of the rules in the line of a workspace, an agent or a task that become others."""
    for number, rule in enumerate(line.get("approvals", ())):
        if rule["mode"] == ConfirmationMode.NEVER:
            yield number
