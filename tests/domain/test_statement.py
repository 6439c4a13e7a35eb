"""Statements: an owner's month by task, out of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from ferryman.domain.credits import ledger, statement
from ferryman.domain.credits.statement import Grouping
from ferryman.domain.executions.execution import Execution
from ferryman.domain.expense import CallExpense, Expense
from ferryman.domain.problem import InvalidInputError, Problem

AT = datetime(2026, 11, 21, tzinfo=UTC)
FEE = CallExpense(expense=Expense.API_CALL_FEE, credits=Decimal("0.5"))


def entries(name: str, task: str, tokens: str) -> list[ledger.LedgerEntry]:
    execution = Execution(id=name, task=task, owner="ann", created_at=AT)
    spent = ledger.record_turn(execution, 1, tokens=Decimal(tokens), calls=[FEE], at=AT)
    assert spent is not None
    rest = Decimal(100) - Decimal(tokens) - Decimal("0.5")
    ended = ledger.record_release(execution, tokens=Decimal(0), rest=rest, at=AT)
    return [ledger.record_reservation(execution, Decimal(100), at=AT), spent, ended]


def test_a_month_is_told_by_task_the_dearest_first() -> None:
    lines = statement.summarize_entries(
        [*entries("e1", "cheap", "1"), *entries("e2", "dear", "7"), *entries("e3", "dear", "2.25")], by=Grouping.TASK
    )
    assert [(line.id, line.executions, line.credits) for line in lines] == [
        ("dear", 2, Decimal("10.25")),
        ("cheap", 1, Decimal("1.5")),
    ]


def test_an_entry_that_does_not_sum_to_zero_cannot_be_made() -> None:
    postings = (
        ledger.Posting(account="owner:ann", credits=Decimal(-1)),
        ledger.Posting(account="llm_tokens", credits=Decimal("0.9999")),
    )
    with pytest.raises(ValueError, match="zero"):
        ledger.LedgerEntry(id="x", execution="e", owner="ann", task="t", at=AT, postings=postings)


@pytest.mark.parametrize(("month", "first", "after"), [("2026-11", (2026, 11), (2026, 12)), ("2026-12", (2026, 12), (2027, 1))])
def test_a_month_ends_where_the_next_begins(month: str, first: tuple[int, int], after: tuple[int, int]) -> None:
    assert statement.parse_month(month) == (datetime(*first, 1, tzinfo=UTC), datetime(*after, 1, tzinfo=UTC))


@pytest.mark.parametrize("month", ["", "2026", "2026-13", "2026-1", "1999-01", "2026-11-01"])
def test_what_is_no_month_is_refused_by_name(month: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        statement.parse_month(month)
    assert refused.value.problems == (Problem("month", "must be a month like 2026-11"),)
