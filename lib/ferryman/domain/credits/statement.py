"""Statements: an owner's expenses of a month, computed from the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

from ferryman.domain.credits.ledger import FEES, TOKENS, LedgerEntry
from ferryman.domain.problem import build_input_error

_MONTH = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])", re.ASCII)


class Grouping(StrEnum):
    """By what a statement sums the expenses up."""

    TASK = "task"
    AGENT = "agent"
    PERSON = "person"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLine:
    """What the executions of one task, agent, person or workspace cost in the month; no person has the id ""."""

    id: str
    executions: int
    llm_tokens: Decimal
    api_call_fees: Decimal

    @property
    def credits(self) -> Decimal:
        return self.llm_tokens + self.api_call_fees


def parse_month(month: str) -> tuple[datetime, datetime]:
    """Return the start of `month` ("2026-11", UTC) and of the next month. Raise `InvalidInputError`."""
    match = _MONTH.fullmatch(month)
    if match is None:
        raise build_input_error("month", "must be a month like 2026-11")
    year, number = int(match[1]), int(match[2])
    following = (year + number // 12, number % 12 + 1)
    return datetime(year, number, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC)


def summarize_entries(entries: Iterable[LedgerEntry], *, by: Grouping) -> list[StatementLine]:
    """Return the expenses, the highest first. Reservations and their release are no expense."""
    expenses: dict[str, dict[str, Decimal]] = {}
    executions: dict[str, set[str]] = {}
    for entry in entries:
        name: str = getattr(entry, by.value)
        accounts = expenses.setdefault(name, {TOKENS: Decimal(0), FEES: Decimal(0)})
        executions.setdefault(name, set()).add(entry.execution)
        for posting in entry.postings:
            if posting.account in accounts:
                accounts[posting.account] += posting.credits
    lines = [
        StatementLine(id=name, executions=len(executions[name]), llm_tokens=sums[TOKENS], api_call_fees=sums[FEES])
        for name, sums in expenses.items()
    ]
    return sorted(lines, key=lambda line: (-line.credits, line.id))
