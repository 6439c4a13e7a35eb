"""Statements: an owner's expenses of a month, computed from the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

from ferryman.domain.credits.ledger import LedgerEntry, Posting
from ferryman.domain.expense import Expense
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
    """What the executions of one task, agent, person or workspace cost in the month; no person has the id "".

    `storage_bytes` are the bytes of stored files that were read or written, which cost nothing.
    """

    id: str
    executions: int
    llm_tokens: Decimal
    api_call_fees: Decimal
    embedding: Decimal
    storage_bytes: int

    @property
    def credits(self) -> Decimal:
        return self.llm_tokens + self.api_call_fees + self.embedding


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
    postings: dict[str, list[Posting]] = {}
    executions: dict[str, set[str]] = {}
    for entry in entries:
        name: str = getattr(entry, by.value)
        postings.setdefault(name, []).extend(entry.postings)
        executions.setdefault(name, set()).add(entry.execution)
    lines = [_build_line(name, len(executions[name]), postings[name]) for name in postings]
    return sorted(lines, key=lambda line: (-line.credits, line.id))


def _build_line(name: str, executions: int, postings: Iterable[Posting]) -> StatementLine:
    sums = dict.fromkeys(Expense, Decimal(0))
    storage_bytes = 0
    for posting in postings:
        if posting.account in sums:
            sums[Expense(posting.account)] += posting.credits
            storage_bytes += posting.bytes
    return StatementLine(
        id=name,
        executions=executions,
        llm_tokens=sums[Expense.LLM_TOKENS],
        api_call_fees=sums[Expense.API_CALL_FEE],
        embedding=sums[Expense.EMBEDDING],
        storage_bytes=storage_bytes,
    )
