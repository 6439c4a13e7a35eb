"""The closing of a recorded execution: what the loop met after the last turn it committed."""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from operator import add

from ferryman.domain.execution import Status
from ferryman.domain.halt import BY_OPERATOR, BY_OWNER
from ferryman.domain.ledger import TOKENS
from ferryman.domain.message import Reply
from ferryman.domain.record import Record
from ferryman.domain.usage import Usage
from ferryman.loop.ending import EXHAUSTED, FAULT
from ferryman.loop.turn import ASKED_MAX, CALLS_MAX, FLOODED, LOST
from ferryman.ports import Halted, Rejected, Unavailable

HALTS = (BY_OPERATOR, BY_OWNER)


def beyond(record: Record) -> list[Reply | Exception]:
    """What the model answered when it was asked past the last committed turn, in order; often nothing.

    The reason the execution ended for tells what it was, and the last entry of the ledger whether it was paid for.
    """
    status, error = record.execution.status, record.execution.error or ""
    answered = record.steps and not record.steps[-1].calls
    if status is Status.COMPLETED or answered or error.startswith(EXHAUSTED):
        return []
    lost = unrecorded(record)
    if lost != Usage():
        return [Reply(content=_flood() if error == FLOODED else (), stop_reason="tool_use", usage=lost)]
    paid = paid_unanswered(record)
    if status in (Status.KILLED, Status.TIMEOUT):
        if not paid:
            return []
        return [Halted(error) if error in HALTS else Unavailable("the answer was lost", lost=True)]
    if error == LOST:
        return [Unavailable("the answer was lost", lost=True)] * ASKED_MAX
    if error == FAULT:
        return [RuntimeError(error)] if paid else []
    return [Rejected(error)]


def unrecorded(record: Record) -> Usage:
    """The tokens of a reply that was paid for and not committed."""
    whole = record.execution.usage
    known = reduce(add, (step.usage for step in record.steps), Usage())
    return Usage(**{name: getattr(whole, name) - getattr(known, name) for name in Usage.__dataclass_fields__})


def paid_unanswered(record: Record) -> bool:
    """Whether tokens were charged at the end, of a model call whose answer nobody has."""
    ends = (entry for entry in record.entries if entry.id == f"{record.execution.id}.end")
    return any(posting.credits > Decimal(0) for entry in ends for posting in entry.postings if posting.account == TOKENS)


def _flood() -> tuple[dict[str, object], ...]:
    return tuple({"type": "tool_use", "id": str(each), "name": "", "input": {}} for each in range(CALLS_MAX + 1))
