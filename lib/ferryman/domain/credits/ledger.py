"""The double-entry ledger: every entry takes credits from one account and adds them to others.

Accounts are `owner:ID`, `execution:ID`, and the expenses `llm_tokens` and `api_call_fee`. An execution's account is empty
before it starts and after it ends; an owner's is minus the credits that the owner's balance has used and reserved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ferryman.domain.credits.balance import name_owner_balance
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import name_conversation_part
from ferryman.domain.workspaces.names import fill_place

TOKENS = "llm_tokens"
FEES = "api_call_fee"
START = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """Credits added to an account; negative ones are taken from it."""

    account: str
    credits: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One entry. `id` is made of the execution and the event, so no event is entered twice (idempotency).

    An entry that names no workspace is one of the owner's default workspace, and one without an agent of that one's default
    agent; `person` is "" where no person started the execution, and `conversation`, a
    digest of the conversation and its agent, where it belongs to none: entries stay when the rest is deleted, and hold nothing
    that anybody wrote.
    """

    id: str
    execution: str
    owner: str
    workspace: str = ""
    agent: str = ""
    person: str = ""
    conversation: str = ""
    task: str
    at: datetime
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        fill_place(self)
        if sum(posting.credits for posting in self.postings):
            raise ValueError("the postings of an entry sum to zero")


def record_reservation(execution: Execution, amount: Decimal, *, at: datetime) -> LedgerEntry:
    """Return the entry that reserves `amount` of the owner's credits for an execution that starts."""
    return _build_entry(execution, START, at, {name_owner_balance(execution.owner): -amount, name_account(execution): amount})


def record_turn(execution: Execution, turn: int, *, tokens: Decimal, fees: Decimal, at: datetime) -> LedgerEntry | None:
    """Return the entry of a turn's tokens and of the fees of the calls before it; None where both are 0."""
    if not tokens and not fees:
        return None
    return _build_entry(
        execution, f"turn-{turn:05d}", at, {name_account(execution): -tokens - fees, TOKENS: tokens, FEES: fees}
    )


def record_release(execution: Execution, *, tokens: Decimal, fees: Decimal, rest: Decimal, at: datetime) -> LedgerEntry:
    """Return the entry of the expenses since the last turn, which returns the `rest` of the reservation to the owner."""
    lines = {
        name_account(execution): -tokens - fees - rest,
        TOKENS: tokens,
        FEES: fees,
        name_owner_balance(execution.owner): rest,
    }
    return _build_entry(execution, "end", at, lines)


def sort_entries(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Return the entries of one execution in order: start, turns, end. Times do not matter, since clocks differ."""
    return sorted(entries, key=lambda entry: (entry.id.endswith(".end"), entry.id))  # "start" comes before "turn" as it is


def sum_accounts(entries: Iterable[LedgerEntry]) -> Mapping[str, Decimal]:
    """Return the credits in each account after `entries`."""
    sums: dict[str, Decimal] = {}
    for entry in entries:
        for posting in entry.postings:
            sums[posting.account] = sums.get(posting.account, Decimal(0)) + posting.credits
    return sums


def name_account(execution: Execution) -> str:
    """Return the name of an execution's account."""
    return f"execution:{execution.id}"


def name_start(execution: str) -> str:
    """Return the id of the entry with which an execution starts: no other execution by this id has started while it exists."""
    return f"{execution}.{START}"


def digest_conversation(execution: Execution) -> str:
    """Return what entries name the conversation of `execution` by, "" where it has none: no other agent's has it."""
    if not execution.conversation:
        return ""
    return hashlib.sha256(name_conversation_part(execution.agent, execution.conversation).encode()).hexdigest()[:32]


def _build_entry(execution: Execution, what: str, at: datetime, lines: Mapping[str, Decimal]) -> LedgerEntry:
    postings = tuple(Posting(account=account, credits=amount) for account, amount in lines.items() if amount)
    return LedgerEntry(
        id=f"{execution.id}.{what}",
        execution=execution.id,
        owner=execution.owner,
        workspace=execution.workspace,
        agent=execution.agent,
        person=execution.person,
        conversation=digest_conversation(execution),
        task=execution.task,
        at=at,
        postings=postings,
    )
