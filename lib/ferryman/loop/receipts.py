"""Receipts of a run: which entries each of its commits adds to the chain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ferryman.domain import receipt
from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.execution import Execution, Opening
from ferryman.domain.receipt import Fact, Kind, Receipt
from ferryman.loop.journal import Run
from ferryman.ports import Ending, Signer

UNNAMED = "?"
"""Stands for a tool that the task does not have: the model may have written anything there."""

Added = tuple[Execution, tuple[Receipt, ...]]
"""The execution with its chain's new head, and the entries that lead there."""


def opened(signer: Signer, execution: Execution, opening: Opening) -> Added:
    """The first entry: what the model is told, and what it may use."""
    told = {
        "model": opening.model,
        "system": opening.system,
        "prompt": opening.prompt,
        "tools": opening.tools,
        "max_tokens": opening.max_tokens,
        "temperature": opening.temperature,
        "max_iterations": opening.max_iterations,
        "max_credits": receipt.plain(opening.max_credits),
    }
    facts = [Fact(Kind.OPENED, {"opening": receipt.digest(told)})]
    return _added(signer, execution, facts, opening.started_at)


def turned(signer: Signer, run: Run, execution: Execution, tickets: Sequence[Ticket], now: datetime) -> Added:
    """A turn: the calls before it have settled, and those it asks for are planned."""
    facts = [_settled(execution, ticket, result) for ticket, result in run.settled]
    facts += [Fact(Kind.PLANNED, {**_call(execution, ticket), "arguments": receipt.digest(ticket.shown)}) for ticket in tickets]
    return _added(signer, execution, facts, now)


def closed(signer: Signer, run: Run | None, execution: Execution, ending: Ending, now: datetime) -> Added:
    """The end: the last calls have settled, and the chain says how long it is, so that a part of it shows as one."""
    facts = [_settled(execution, ticket, result) for ticket, result in (run.settled if run else ())]
    end = {
        "status": ending.status.value,
        "output": None if ending.output is None else receipt.digest(ending.output),
        "credits": receipt.plain(execution.credits_used),
        "count": execution.receipts.count + len(facts) + 1,
    }
    return _added(signer, execution, [*facts, Fact(Kind.CLOSED, end)], now)


def _settled(execution: Execution, ticket: Ticket, result: ToolCallResult) -> Fact:
    what = {
        "result": receipt.result_digest(result),
        "outcome": receipt.outcome(result),
        "credits": receipt.plain(result.fee),
    }
    return Fact(Kind.SETTLED, {**_call(execution, ticket), **what})


def _call(execution: Execution, ticket: Ticket) -> dict[str, object]:
    tools = execution.remit.enabled if execution.remit else ()
    return {"turn": ticket.step, "seq": ticket.seq, "tool": ticket.tool if ticket.tool in tools else UNNAMED}


def _added(signer: Signer, execution: Execution, facts: Iterable[Fact], at: datetime) -> Added:
    made, head = receipt.entered(execution.receipts, facts, execution=execution.id, at=at, key=signer.version, sign=signer.sign)
    return replace(execution, receipts=head), made
