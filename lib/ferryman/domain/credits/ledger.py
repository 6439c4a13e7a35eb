"""The double-entry ledger: every entry takes credits from one account and adds them to others.

Accounts are `owner:ID`, `execution:ID`, and those of the expenses (`Expense`). An execution's account is empty before it starts
and after it ends; an owner's is minus the credits that the owner's balance has used and reserved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from ferryman.domain.credits.balance import name_owner_balance
from ferryman.domain.executions.execution import Execution
from ferryman.domain.expense import CallExpense, Expense
from ferryman.domain.owners.cap import name_conversation_part
from ferryman.domain.stored import LEFT_OUT
from ferryman.domain.workspaces.names import fill_place

START = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """Credits added to an account; negative ones are taken from it.

    `bytes` are those of stored files that calls have read or written, in `Expense.STORAGE_UNMETERED`, for no credits.
    """

    account: str
    credits: Decimal
    bytes: int = field(default=0, metadata=LEFT_OUT)


class _Line(NamedTuple):
    """What an entry adds to one account."""

    credits: Decimal
    bytes: int = 0


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
    lines = {name_owner_balance(execution.owner): _Line(-amount), name_account(execution): _Line(amount)}
    return _build_entry(execution, START, at, lines)


def record_turn(
    execution: Execution, turn: int, *, tokens: Decimal, calls: Iterable[CallExpense] = (), at: datetime
) -> LedgerEntry | None:
    """Return the entry of a turn's tokens and of the calls before it; None where there is nothing to enter."""
    expenses = _sum_expenses(tokens, calls)
    if not expenses:
        return None
    return _build_entry(execution, f"turn-{turn:05d}", at, _spend(execution, expenses))


def record_release(
    execution: Execution, *, tokens: Decimal, calls: Iterable[CallExpense] = (), rest: Decimal, at: datetime
) -> LedgerEntry:
    """Return the entry of the expenses since the last turn, which returns the `rest` of the reservation to the owner."""
    lines = _spend(execution, _sum_expenses(tokens, calls), besides=rest)
    return _build_entry(execution, "end", at, {**lines, name_owner_balance(execution.owner): _Line(rest)})


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


def _sum_expenses(tokens: Decimal, calls: Iterable[CallExpense]) -> dict[str, _Line]:
    """Return what was spent, by account; of an account in which nothing was, nothing."""
    sums = {Expense.LLM_TOKENS: _Line(tokens)}
    for call in calls:
        before = sums.get(call.expense, _Line(Decimal(0)))
        sums[call.expense] = _Line(before.credits + call.credits, before.bytes + call.bytes)
    return {expense.value: sums[expense] for expense in Expense if any(sums.get(expense, ()))}


def _spend(execution: Execution, expenses: Mapping[str, _Line], *, besides: Decimal = Decimal(0)) -> dict[str, _Line]:
    """Return the lines of `expenses`, after that of the execution's account, which they and what is `besides` come from."""
    spent = sum((line.credits for line in expenses.values()), besides)
    return {name_account(execution): _Line(-spent), **expenses}


def _build_entry(execution: Execution, what: str, at: datetime, lines: Mapping[str, _Line]) -> LedgerEntry:
    postings = tuple(
        Posting(account=account, credits=line.credits, bytes=line.bytes) for account, line in lines.items() if any(line)
    )
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
