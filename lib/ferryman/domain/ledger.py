"""The ledger: every movement of credits, written twice: out of one account and into another.

Accounts are `owner:ID`, `execution:ID`, and what credits are spent on: `llm_tokens` and `api_call_fee`. An execution's account
is empty before it starts and after it ends, and an owner's is minus what the owner's purse has used and holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ferryman.domain.execution import Execution
from ferryman.domain.purse import of_owner

TOKENS = "llm_tokens"
FEES = "api_call_fee"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """Credits that come into an account, or leave it when negative."""

    account: str
    credits: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
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


def reserved(execution: Execution, amount: Decimal, *, at: datetime) -> Entry:
    """The owner sets `amount` credits aside for an execution that starts."""
    return _entry(execution, "start", at, {of_owner(execution.owner): -amount, account_of(execution): amount})


def spent(execution: Execution, turn: int, *, tokens: Decimal, fees: Decimal, at: datetime) -> Entry | None:
    """A turn's tokens, and the fees of the calls before it; None where it was free."""
    if not tokens and not fees:
        return None
    return _entry(execution, f"turn-{turn:05d}", at, {account_of(execution): -tokens - fees, TOKENS: tokens, FEES: fees})


def released(execution: Execution, *, tokens: Decimal, fees: Decimal, rest: Decimal, at: datetime) -> Entry:
    """What was spent since the last turn, and the `rest` of the reservation, back to the owner."""
    lines = {account_of(execution): -tokens - fees - rest, TOKENS: tokens, FEES: fees, of_owner(execution.owner): rest}
    return _entry(execution, "end", at, lines)


def balances(entries: Iterable[Entry]) -> Mapping[str, Decimal]:
    """What stands in each account after `entries`."""
    found: dict[str, Decimal] = {}
    for entry in entries:
        for posting in entry.postings:
            found[posting.account] = found.get(posting.account, Decimal(0)) + posting.credits
    return found


def plain(amount: Decimal) -> str:
    """An amount of credits in digits, without an exponent or zeros that tell nothing."""
    return f"{amount.normalize():f}"


def account_of(execution: Execution) -> str:
    """The account of an execution."""
    return f"execution:{execution.id}"


def _entry(execution: Execution, what: str, at: datetime, lines: Mapping[str, Decimal]) -> Entry:
    postings = tuple(Posting(account=account, credits=amount) for account, amount in lines.items() if amount)
    return Entry(
        id=f"{execution.id}.{what}",
        execution=execution.id,
        owner=execution.owner,
        task=execution.task,
        at=at,
        postings=postings,
    )
