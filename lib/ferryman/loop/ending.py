"""Endings: how an execution ends, whatever ended it, and how that is recorded."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.execution import Execution, Status
from ferryman.domain.message import text_of
from ferryman.loop import calls, money, receipts
from ferryman.loop.house import House
from ferryman.loop.journal import Run
from ferryman.loop.later import Later
from ferryman.ports import Ending, Stale, Unavailable

FAULT = "an internal fault ended the execution"
EXHAUSTED = "the credit limit of this execution was reached"

FAILURES = {
    "max_tokens": "the model's reply was cut at max_tokens",
    "model_context_window_exceeded": "the model's context window is full",
    "refusal": "the model refused the task",
}
"""Why a reply without calls is no answer, by its stop reason."""


def answer(run: Run) -> Ending:
    """The model's last words."""
    assert run.last is not None
    text = text_of(run.last.content)
    error = FAILURES.get(run.last.stop_reason)
    if error is not None:
        return Ending(status=Status.FAILED, output=text, error=error)
    if not text and run.last.number > run.opening.max_iterations:
        text = f"The limit of {run.opening.max_iterations} iterations was reached before there was an answer."
    return Ending(status=Status.COMPLETED, output=text)


def failed(run: Run | None, error: str) -> Ending:
    return Ending(status=Status.FAILED, output=_text(run), error=error)


def timeout(house: House, run: Run) -> Ending:
    return Ending(status=Status.TIMEOUT, output=_text(run), error=too_long(house))


def exhausted(run: Run | None) -> Ending:
    most = run.opening.max_credits if run else "?"
    return failed(run, f"{EXHAUSTED} (max_credits {most})")


async def cancelled(house: House, run: Run | None, by: calls.Cancelled) -> Ending:
    """Ended by somebody: what was not sent is not sent any more."""
    if run is not None:
        await calls.withdraw(house, run)
    return Ending(status=by.status, output=_text(run), error=str(by))


async def broken_off(house: House, run: Run | None, error: str) -> Ending:
    """A run that cannot go on: what it sent is still counted, and what it did not send is not sent."""
    if run is not None:
        try:
            await calls.withdraw(house, run)
        except (Stale, Later, Unavailable):
            raise
        except Exception as fault:  # noqa: BLE001 - the second fault must not hide the first
            house.line("execution.fault", execution=run.execution.id, kind=type(fault).__name__, severity="ERROR")
    return failed(run, error)


async def finish(house: House, execution: Execution, run: Run | None, ending: Ending) -> None:
    """Record the end, with everything paid for and the rest given back."""
    signer = await house.signing.key()
    now = house.clock.now()
    final, entry = money.closed(execution, run, now)
    closed, signed = receipts.closed(signer, run, final, ending, now)
    try:
        await house.executions.finish(closed, replace(ending, entry=entry, receipts=signed), now=now)
    except (Stale, Unavailable):
        raise
    except Exception as fault:  # noqa: BLE001 - what cannot be recorded whole is recorded in short, or it would come back for ever
        house.line("execution.unrecordable", execution=final.id, kind=type(fault).__name__, severity="ERROR")
        error = "the record of this execution outgrew its document"
        ending = Ending(status=Status.FAILED, error=error)
        closed, signed = receipts.closed(signer, run, replace(final, tool_calls=()), ending, now)
        await house.executions.finish(closed, replace(ending, entry=entry, receipts=signed), now=now)
    house.line("execution.finished", execution=final.id, status=ending.status.value, credits=str(final.credits_used))


def overdue(house: House, execution: Execution) -> bool:
    return execution.started_at is not None and house.clock.now() - execution.started_at > house.patience


def too_long(house: House) -> str:
    return f"the execution took longer than {int(house.patience.total_seconds())} seconds"


def _text(run: Run | None) -> str | None:
    return text_of(run.last.content) if run is not None and run.last is not None else None
