"""A delivery: the queue hands over an execution, and this carries it on until it ends, is given up, or is somebody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from ferryman.domain.execution import Execution, Status
from ferryman.domain.message import text_of
from ferryman.loop import calls, opening, turn
from ferryman.loop.house import House
from ferryman.loop.journal import Run, rebuild
from ferryman.ports import Ending, Rejected, Stale, Unavailable

FAILURES = {
    "max_tokens": "the model's reply was cut at max_tokens",
    "model_context_window_exceeded": "the model's context window is full",
    "refusal": "the model refused the task",
}
"""Why a reply without calls is no answer, by its stop reason."""


async def deliver(house: House, execution: str, *, holder: str) -> bool:
    """Run `execution` as far as it goes. True when the queue may forget this delivery, False when it should come again."""
    try:
        claimed, is_ours = await house.executions.claim(execution, holder=holder, now=house.clock.now(), lease=house.lease)
    except KeyError:
        house.line("delivery.unknown", execution=execution)
        return True
    except Unavailable as pause:
        house.line("delivery.paused", execution=execution, reason=str(pause))
        return False
    if not is_ours:
        return claimed.status.terminal
    try:
        async with _heartbeat(house, claimed):
            await _carry(house, claimed)
    except Stale:
        house.line("lease.lost", execution=execution)
        return False
    except Unavailable as pause:
        house.line("delivery.paused", execution=execution, reason=str(pause))
        await _give_up_lease(house, claimed)
        return False
    return True


async def _carry(house: House, execution: Execution) -> None:
    run: Run | None = None
    try:
        run = await _standing(house, execution)
        ending = await _turns(house, run)
    except (Stale, Unavailable):
        raise
    except opening.Unfit as unfit:
        ending = Ending(status=Status.FAILED, error=str(unfit))
    except calls.Cancelled as cancelled:
        ending = await _cancelled(house, run, str(cancelled))
    except turn.Exhausted:
        ending = Ending(status=Status.FAILED, output=_text(run), error=_exhausted(run))
    except Rejected as rejected:
        ending = await _broken_off(house, run, str(rejected))
    except Exception as fault:  # noqa: BLE001 - a fault of ours ends the execution; it must not come back for ever
        house.line("execution.fault", execution=execution.id, kind=type(fault).__name__, severity="ERROR")
        ending = await _broken_off(house, run, "an internal fault ended the execution")
    await _finish(house, run.execution if run else execution, ending)


async def _finish(house: House, final: Execution, ending: Ending) -> None:
    try:
        await house.executions.finish(final, ending, now=house.clock.now())
    except (Stale, Unavailable):
        raise
    except Exception as fault:  # noqa: BLE001 - what cannot be recorded whole is recorded in short, or it would come back for ever
        house.line("execution.unrecordable", execution=final.id, kind=type(fault).__name__, severity="ERROR")
        ending = Ending(status=Status.FAILED, error="the record of this execution outgrew its document")
        await house.executions.finish(replace(final, tool_calls=()), ending, now=house.clock.now())
    house.line("execution.finished", execution=final.id, status=ending.status.value, credits=str(final.credits_used))


async def _standing(house: House, execution: Execution) -> Run:
    opened = await house.executions.opening(execution.id)
    if opened is None:
        if _overdue(house, execution):
            raise opening.Unfit(_too_long(house))
        execution, opened = await opening.begin(house, execution)
        return rebuild(execution, opened, (), ())
    steps = await house.executions.steps(execution.id)
    tickets = await house.executions.tickets(execution.id)
    return rebuild(execution, opened, steps, tickets)


async def _turns(house: House, run: Run) -> Ending:
    while True:
        run.execution = await house.executions.renew(run.execution, now=house.clock.now(), lease=house.lease)
        if run.execution.cancel_requested:
            raise calls.Cancelled("cancelled")
        if _overdue(house, run.execution):
            await calls.withdraw(house, run)
            return Ending(status=Status.TIMEOUT, output=_text(run), error=_too_long(house))
        if run.last is not None and not run.last.calls:
            return _answer(run)
        if run.pending:
            await calls.answer(house, run)
            continue
        await turn.take(house, run)


def _answer(run: Run) -> Ending:
    assert run.last is not None
    text = text_of(run.last.content)
    error = FAILURES.get(run.last.stop_reason)
    if error is not None:
        return Ending(status=Status.FAILED, output=text, error=error)
    if not text and run.last.number > run.opening.max_iterations:
        text = f"The limit of {run.opening.max_iterations} iterations was reached before there was an answer."
    return Ending(status=Status.COMPLETED, output=text)


async def _cancelled(house: House, run: Run | None, reason: str) -> Ending:
    if run is not None:
        await calls.withdraw(house, run)
    return Ending(status=Status.KILLED, output=_text(run), error=reason)


async def _broken_off(house: House, run: Run | None, error: str) -> Ending:
    """A run that cannot go on: what it sent is still counted, and what it did not send is not sent."""
    if run is not None:
        try:
            await calls.withdraw(house, run)
        except (Stale, Unavailable):
            raise
        except Exception as fault:  # noqa: BLE001 - the second fault must not hide the first
            house.line("execution.fault", execution=run.execution.id, kind=type(fault).__name__, severity="ERROR")
    return Ending(status=Status.FAILED, output=_text(run), error=error)


def _overdue(house: House, execution: Execution) -> bool:
    return execution.started_at is not None and house.clock.now() - execution.started_at > house.patience


def _too_long(house: House) -> str:
    return f"the execution took longer than {int(house.patience.total_seconds())} seconds"


def _text(run: Run | None) -> str | None:
    return text_of(run.last.content) if run is not None and run.last is not None else None


def _exhausted(run: Run | None) -> str:
    most = run.opening.max_credits if run else "?"
    return f"the credit limit of this execution was reached (max_credits {most})"


async def _give_up_lease(house: House, execution: Execution) -> None:
    try:
        await house.executions.renew(execution, now=house.clock.now(), lease=timedelta(0))
    except (Stale, Unavailable):
        return  # it runs out by itself


@asynccontextmanager
async def _heartbeat(house: House, execution: Execution) -> AsyncIterator[None]:
    """Keep the lease while the model or a tool takes its time; a lost lease shows at the next write."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(house.lease.total_seconds() / 3)
            try:
                await house.executions.renew(execution, now=house.clock.now(), lease=house.lease)
            except Stale:
                return
            except Exception as fault:  # noqa: BLE001 - the next beat tries again; a lease lost meanwhile fences the rest
                house.line("lease.beat_failed", execution=execution.id, kind=type(fault).__name__, severity="WARNING")

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
