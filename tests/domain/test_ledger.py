"""The ledger: the entries of an execution, and the sums of its accounts."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credits.amount import format_credits
from ferryman.domain.credits.ledger import (
    LedgerEntry,
    name_account,
    record_release,
    record_reservation,
    record_turn,
    sort_entries,
    sum_accounts,
)
from ferryman.domain.expense import CallExpense, Expense
from tests.builders import START, build_execution

EXECUTION = build_execution()
FEE = Decimal("0.5")
CREDITS = st.decimals(min_value=0, max_value=10_000, places=4)


def list_postings(entry: LedgerEntry | None) -> dict[str, Decimal]:
    assert entry is not None
    assert (entry.execution, entry.owner, entry.task, entry.at) == ("e", "o", "t", START)
    return {posting.account: posting.credits for posting in entry.postings}


def charge(fee: Decimal) -> CallExpense:
    return CallExpense(expense=Expense.API_CALL_FEE, credits=fee)


def record(turn: int) -> LedgerEntry:
    entry = record_turn(EXECUTION, turn, tokens=Decimal(1), calls=[charge(FEE)], at=START)
    assert entry is not None
    return entry


def release(tokens: Decimal, fees: Decimal, rest: Decimal) -> LedgerEntry:
    return record_release(EXECUTION, tokens=tokens, calls=[charge(fees)], rest=rest, at=START)


def test_a_reservation_moves_credits_from_the_owner_to_the_execution():
    entry = record_reservation(EXECUTION, Decimal(100), at=START)
    assert entry.id == "e.start"
    assert list_postings(entry) == {"owner:o": Decimal(-100), "execution:e": Decimal(100)}


def test_a_turn_moves_credits_from_the_execution_to_its_expenses():
    entry = record(7)
    assert entry.id == "e.turn-00007"
    assert list_postings(entry) == {"execution:e": Decimal("-1.5"), "llm_tokens": Decimal(1), "api_call_fee": FEE}


@pytest.mark.parametrize(
    ("tokens", "fees", "accounts"),
    [(Decimal(2), Decimal(0), {"execution:e", "llm_tokens"}), (Decimal(0), FEE, {"execution:e", "api_call_fee"})],
)
def test_an_account_that_gets_nothing_has_no_posting(tokens: Decimal, fees: Decimal, accounts: set[str]):
    assert list_postings(record_turn(EXECUTION, 1, tokens=tokens, calls=[charge(fees)], at=START)).keys() == accounts


def test_calls_that_are_not_metered_are_entered_with_their_bytes_and_for_no_credits():
    calls = [CallExpense(expense=Expense.STORAGE_UNMETERED, credits=Decimal(0), bytes=size) for size in (4521, 79)]
    entry = record_turn(EXECUTION, 1, tokens=Decimal(0), calls=calls, at=START)
    assert entry is not None
    assert [(posting.account, posting.credits, posting.bytes) for posting in entry.postings] == [("storage_unmetered", 0, 4600)]


def test_fees_are_entered_in_the_account_of_their_expense():
    calls = [charge(FEE), CallExpense(expense=Expense.EMBEDDING, credits=Decimal(2)), charge(FEE)]
    entry = record_turn(EXECUTION, 1, tokens=Decimal(1), calls=calls, at=START)
    assert list_postings(entry) == {"execution:e": -4, "llm_tokens": 1, "api_call_fee": 1, "embedding": 2}


def test_a_turn_without_expenses_has_no_entry():
    assert record_turn(EXECUTION, 1, tokens=Decimal(0), at=START) is None


def test_the_end_moves_the_last_expenses_and_returns_the_rest():
    entry = release(Decimal(2), FEE, Decimal(96))
    assert entry.id == "e.end"
    assert list_postings(entry) == {
        "execution:e": Decimal("-98.5"),
        "llm_tokens": Decimal(2),
        "api_call_fee": FEE,
        "owner:o": Decimal(96),
    }


@given(CREDITS, CREDITS, CREDITS, CREDITS, CREDITS)
def test_an_ended_execution_s_account_is_empty_and_its_owner_is_short_of_what_was_spent(tokens, fees, last, last_fees, rest):
    amount = tokens + fees + last + last_fees + rest
    turn = record_turn(EXECUTION, 1, tokens=tokens, calls=[charge(fees)], at=START)
    entries = [record_reservation(EXECUTION, amount, at=START), *([turn] if turn else []), release(last, last_fees, rest)]
    sums = sum_accounts(entries)
    assert sums.get(name_account(EXECUTION), 0) == 0
    assert sums.get("owner:o", 0) == rest - amount
    assert (sums.get("llm_tokens", 0), sums.get("api_call_fee", 0)) == (tokens + last, fees + last_fees)


def test_no_entries_are_in_no_account():
    assert sum_accounts([]) == {}


def test_entries_are_in_order_from_start_to_end_whatever_their_times():
    ordered = [
        record_reservation(EXECUTION, Decimal(100), at=START),
        *(record(turn) for turn in (1, 2, 10)),
        release(Decimal(0), Decimal(0), Decimal(94)),
    ]
    for seed in range(5):
        assert sort_entries(random.Random(seed).sample(ordered, len(ordered))) == ordered


def test_the_id_of_an_execution_may_have_dots():
    execution = build_execution(id="a.b")
    start, end = (
        record_reservation(execution, FEE, at=START),
        record_release(execution, tokens=FEE, calls=[charge(FEE)], rest=FEE, at=START),
    )
    assert sort_entries([end, start]) == [start, end]


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "0"), ("0.5", "0.5"), ("0.50", "0.5"), ("100", "100"), ("1E+3", "1000"), ("0.0001", "0.0001"), ("-2.10", "-2.1")],
)
def test_credits_are_written_in_digits(amount: str, text: str):
    assert format_credits(Decimal(amount)) == text
