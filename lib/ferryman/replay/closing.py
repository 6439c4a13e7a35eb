"""The closing of a recorded execution: what the loop met after the last turn it committed."""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from operator import add

from ferryman.domain.calls.model_use import ModelUse
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER, DISABLED
from ferryman.domain.executions.message import Reply
from ferryman.domain.executions.usage import Usage, count_use
from ferryman.domain.expense import Expense
from ferryman.domain.records.record import Record
from ferryman.loop.endings import FAULT
from ferryman.loop.money import EXHAUSTED
from ferryman.loop.sub_calls import CALLS_MAX
from ferryman.loop.turn import LOST, MODEL_ATTEMPTS_MAX, TOO_MANY_CALLS
from ferryman.ports.errors import HaltedError, RejectedError, UnavailableError

HALTS = (BY_OPERATOR, BY_OWNER)


def derive_uncommitted(record: Record) -> list[Reply | Exception]:
    """Return what the model answered when it was asked past the last committed turn, in order; often nothing.

    The reason the execution ended for tells what it was, and the last entry of the ledger whether it was paid for.
    """
    status, error = record.execution.status, record.execution.error or ""
    last = record.steps[-1] if record.steps else None
    answered = last is not None and not last.calls and not last.is_paused and not last.summarizes
    if status is Status.COMPLETED or answered or error.startswith(EXHAUSTED):
        return []
    lost = compute_unrecorded_usage(record)
    if lost != Usage():
        return [Reply(content=_flood() if error == TOO_MANY_CALLS else (), stop_reason="tool_use", usage=lost)]
    paid = is_paid_unanswered(record)
    if status in (Status.KILLED, Status.TIMEOUT) or error == DISABLED:
        if not paid:
            return []
        return [HaltedError(error) if error in (*HALTS, DISABLED) else UnavailableError("the answer was lost", lost=True)]
    if error.startswith(LOST):
        return [UnavailableError(error.removeprefix(f"{LOST}: "), lost=True)] * MODEL_ATTEMPTS_MAX
    if error == FAULT:
        return [RuntimeError(error)] if paid else []
    earlier: list[Reply | Exception] = [UnavailableError("the answer was lost", lost=True)] if paid else []
    return [*earlier, RejectedError(error)]


def compute_unrecorded_usage(record: Record) -> Usage:
    """Return the tokens of a reply that was paid for and not committed."""
    of_calls = (count_use(use) for _, use in _list_uses(record))
    return record.execution.usage - reduce(add, (*(step.usage for step in record.steps), *of_calls), Usage())


def is_paid_unanswered(record: Record) -> bool:
    """Return whether tokens were charged at the end, of a model call whose answer nobody has."""
    ends = (entry for entry in record.entries if entry.id == f"{record.execution.id}.end")
    tokens = [posting.credits for entry in ends for posting in entry.postings if posting.account == Expense.LLM_TOKENS]
    last = record.steps[-1].number if record.steps else 0
    of_calls = sum((use.credits for step, use in _list_uses(record) if step == last), Decimal(0))
    return any(amount > of_calls for amount in tokens)


def _list_uses(record: Record) -> list[tuple[int, ModelUse]]:
    """Return what calls have used that asked a model, with the turn of each."""
    results = ((ticket.step, ticket.result) for ticket in record.tickets)
    return [(step, result.model_use) for step, result in results if result is not None and result.model_use is not None]


def _flood() -> tuple[dict[str, object], ...]:
    return tuple({"type": "tool_use", "id": str(number), "name": "", "input": {}} for number in range(CALLS_MAX + 1))
