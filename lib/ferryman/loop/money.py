"""Money: what a run sets aside before it spends, and what is entered when it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from ferryman.domain import ledger
from ferryman.domain.call import Ticket, fee_of
from ferryman.domain.execution import Execution
from ferryman.domain.ledger import Entry
from ferryman.domain.message import Reply
from ferryman.loop.house import House
from ferryman.loop.journal import Run

NOTHING = Decimal(0)


def asked(run: Run, worst: Decimal) -> Execution:
    """The execution with the worst a model call may cost set aside, beside the fees that are not committed yet."""
    execution = run.execution
    return replace(execution, asked=execution.asked + 1, credits_held=execution.credits_used - run.committed + worst)


def unasked(execution: Execution, before: Execution) -> Execution:
    """The execution after a model call that its provider declined: it stands as before, an earlier call's loss included."""
    return replace(execution, asked=before.asked, credits_held=before.credits_held)


def answered(house: House, run: Run, reply: Reply) -> tuple[Execution, Decimal]:
    """The execution with the reply paid for, and what it cost: never more than is left.

    An estimate that was too low is the operator's loss, not the owner's.
    """
    price = house.price(run.opening.model)
    cost = price.credits(reply.usage) if price else NOTHING
    left = run.opening.max_credits - run.execution.credits_used
    if cost > left:
        house.line("credits.capped", execution=run.execution.id, cost=str(cost), charged=str(left), severity="WARNING")
    paid = min(cost, left)
    execution = replace(
        run.execution,
        credits_used=run.execution.credits_used + paid,
        usage=run.execution.usage + reply.usage,
        asked=0,
        credits_held=NOTHING,
    )
    return execution, paid


def fees_of(run: Run, tickets: Iterable[Ticket]) -> Decimal:
    """What the calls of a turn may cost, as far as the execution's credits go: a call beyond them is refused."""
    left = run.opening.max_credits - run.execution.credits_used
    return min(left, sum((fee_of(ticket.tool) for ticket in tickets), NOTHING))


def closed(execution: Execution, run: Run | None, now: datetime) -> tuple[Execution, Entry | None]:
    """The execution with everything paid for, and the last entry; None where nothing was ever set aside.

    A model call that was sent and whose reply nobody has may have cost its worst: that is charged, once.
    """
    if not execution.credits_reserved:
        return execution, None
    # a record that cannot be rebuilt still gives back what was set aside for it
    committed, fees = (run.committed, run.fees) if run else (execution.credits_used, NOTHING)
    used = execution.credits_used
    if execution.asked:
        used = min(execution.credits_reserved, max(used, committed + execution.credits_held))
    final = replace(execution, credits_used=used, asked=0, credits_held=NOTHING)
    rest = execution.credits_reserved - used
    return final, ledger.released(final, tokens=used - committed - fees, fees=fees, rest=rest, at=now)
