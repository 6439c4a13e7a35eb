"""The double-entry ledger: every movement of credits goes out of one account and into another.

Accounts are `owner:ID`, `execution:ID`, and what credits are spent on: `llm_tokens` and `api_call_fee`. An execution's account
is empty before it starts and after it ends, and an owner's is minus what the owner's purse has used and holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ferryman.domain.credits.balance import name_owner_balance
from ferryman.domain.executions.execution import Execution

TOKENS = "llm_tokens"
FEES = "api_call_fee"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """Credits that come into an account, or leave it when negative."""

    account: str
    credits: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One movement. `id` is made of the execution and of what happened, so that nothing is entered twice."""

    id: str
    execution: str
    owner: str
    task: str
    at: datetime
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        if sum((posting.credits for posting in self.postings), Decimal(0)):
            raise ValueError("the postings of an entry sum to zero")


def record_reservation(execution: Execution, amount: Decimal, *, at: datetime) -> LedgerEntry:
    """The owner sets `amount` credits aside for an execution that starts."""
    return _build_entry(execution, "start", at, {name_owner_balance(execution.owner): -amount, name_account(execution): amount})


def record_turn(execution: Execution, turn: int, *, tokens: Decimal, fees: Decimal, at: datetime) -> LedgerEntry | None:
    """A turn's tokens, and the fees of the calls before it; None where it was free."""
    if not tokens and not fees:
        return None
    return _build_entry(
        execution, f"turn-{turn:05d}", at, {name_account(execution): -tokens - fees, TOKENS: tokens, FEES: fees}
    )


def record_release(execution: Execution, *, tokens: Decimal, fees: Decimal, rest: Decimal, at: datetime) -> LedgerEntry:
    """What was spent since the last turn, and the `rest` of the reservation, back to the owner."""
    lines = {
        name_account(execution): -tokens - fees - rest,
        TOKENS: tokens,
        FEES: fees,
        name_owner_balance(execution.owner): rest,
    }
    return _build_entry(execution, "end", at, lines)


def sort_entries(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Return the entries of one execution as they were made: its start, its turns, its end. Clocks do not matter."""
    ranks = {"start": 0, "end": 2}
    return sorted(entries, key=lambda entry: (ranks.get(entry.id.rpartition(".")[2], 1), entry.id))


def sum_accounts(entries: Iterable[LedgerEntry]) -> Mapping[str, Decimal]:
    """What stands in each account after `entries`."""
    found: dict[str, Decimal] = {}
    for entry in entries:
        for posting in entry.postings:
            found[posting.account] = found.get(posting.account, Decimal(0)) + posting.credits
    return found


def format_credits(amount: Decimal) -> str:
    """An amount of credits in digits, without an exponent or zeros that tell nothing."""
    return f"{amount.normalize():f}"


def name_account(execution: Execution) -> str:
    """The account of an execution."""
    return f"execution:{execution.id}"


def _build_entry(execution: Execution, what: str, at: datetime, lines: Mapping[str, Decimal]) -> LedgerEntry:
    postings = tuple(Posting(account=account, credits=amount) for account, amount in lines.items() if amount)
    return LedgerEntry(
        id=f"{execution.id}.{what}",
        execution=execution.id,
        owner=execution.owner,
        task=execution.task,
        at=at,
        postings=postings,
    )
