"""Endings: how an execution ends for each reason, and how its end is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.conversations.asking import build_answer as build_message
from ferryman.domain.conversations.message import Message
from ferryman.domain.conversations.turns import fit_turns
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.message import join_text
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.executions.waiting import end_wait, is_over_time
from ferryman.domain.stale import StaleError
from ferryman.loop import calls, direct, money, receipts, titles
from ferryman.loop.alerting import enqueue_alerts
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run
from ferryman.loop.start import BudgetReachedError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.executions import ExecutionEnding
from ferryman.ports.keys import Signer

FAULT = "an internal fault ended the execution"

FAILURES = {
    "max_tokens": "the model's reply was cut at max_tokens, after {output} tokens: {most}, or fewer where credits are short",
    "model_context_window_exceeded": "the model's context window is full",
    "refusal": "the model refused the task",
}
"""Why a reply without calls is no answer, by its stop reason."""


def build_answer(run: Run) -> ExecutionEnding:
    """Return the ending with the text of the model's last reply, or with the result of a direct call."""
    assert run.last is not None
    if run.execution.called_tool:
        return ExecutionEnding(status=Status.COMPLETED, output=direct.read_result(run))
    text = join_text(run.last.content)
    error = FAILURES.get(run.last.stop_reason)
    if error is not None:
        error = error.format(output=run.last.usage.output_tokens, most=run.opening.max_tokens)
        return ExecutionEnding(status=Status.FAILED, output=text, error=error)
    if not text and run.last.number > run.opening.max_iterations:
        text = f"The limit of {run.opening.max_iterations} iterations was reached before there was an answer."
    elif not text and calls.is_out_of_calls(run):
        text = "The limit of API calls was reached before there was an answer."
    return ExecutionEnding(status=Status.COMPLETED, output=text)


def build_failure(run: Run | None, error: str) -> ExecutionEnding:
    """Return the ending of an execution that failed with `error`."""
    return ExecutionEnding(status=Status.FAILED, output=_read_last_text(run), error=error)


def build_shortage(
    execution: Execution, run: Run | None, error: money.CreditsExhaustedError | BudgetReachedError
) -> ExecutionEnding:
    """Return the ending of an execution whose credits do not suffice: an answer asks the person, in words and with figures."""
    ending = build_failure(run, str(error))
    if not execution.answer:
        return ending
    return replace(ending, output="\n\n".join(filter(None, (ending.output, error.ask()))))


def build_timeout(deps: LoopDependencies, run: Run) -> ExecutionEnding:
    """Return the ending of an execution that took too long."""
    return ExecutionEnding(status=Status.TIMEOUT, output=_read_last_text(run), error=describe_timeout(deps))


async def run_short(
    deps: LoopDependencies, execution: Execution, run: Run | None, error: BudgetReachedError
) -> ExecutionEnding | Postponement:
    """Return the ending of an execution whose caps leave too little, before it began or after it waited for a person."""
    if run is not None and (postponement := await calls.withdraw(deps, run)) is not None:
        return postponement
    return build_shortage(execution, run, error)


async def cancel(
    deps: LoopDependencies, run: Run | None, error: calls.ExecutionCancelledError
) -> ExecutionEnding | Postponement:
    """Withdraw the pending calls of a cancelled execution and return its ending."""
    if run is not None and (postponement := await calls.withdraw(deps, run)) is not None:
        return postponement
    return ExecutionEnding(status=error.status, output=_read_last_text(run), error=str(error))


async def abort(deps: LoopDependencies, run: Run | None, error: str) -> ExecutionEnding | Postponement:
    """Return the ending of a run that cannot go on: calls that were sent are counted, the others are not sent."""
    if run is not None:
        try:
            if (postponement := await calls.withdraw(deps, run)) is not None:
                return postponement
        except (StaleError, UnavailableError):
            raise
        except Exception as fault:  # noqa: BLE001 - the second fault must not hide the first
            deps.log("execution.fault", execution=run.execution.id, kind=type(fault).__name__, severity="ERROR")
    return build_failure(run, error)


async def finish(deps: LoopDependencies, execution: Execution, run: Run | None, ending: ExecutionEnding) -> None:
    """Store the end, with everything charged and the rest of the reservation released, and enqueue its alerts.

    What a person was asked about is withdrawn before: nothing that is pending is left of an execution that has ended.
    """
    signer = await deps.signing.key()
    now = deps.clock.now()
    if execution.waiting_for or (run is not None and run.has_asked):
        await deps.approvals.withdraw(execution.id, now=now)
    final, entry = money.close_account(end_wait(execution, now), run, now)
    ending = replace(ending, entry=entry, usage_event=money.meter_end(final, run, entry, now))
    if final.answer:
        ending = replace(ending, message=_build_message(final, run, ending, now))
    ending = replace(ending, title=titles.read_title(final, ending))
    try:
        alerts = await _store(deps, signer, run, final, ending, now)
    except (StaleError, UnavailableError):
        raise
    except Exception as fault:  # noqa: BLE001 - a record that cannot be stored whole is stored in short, or it would retry for ever
        deps.log("execution.unrecordable", execution=final.id, kind=type(fault).__name__, severity="ERROR")
        error = "the record of this execution outgrew its document"
        ending = replace(ending, status=Status.FAILED, output=None, error=error, message=None, title="")
        alerts = await _store(deps, signer, run, replace(final, tool_calls=()), ending, now)
    deps.log("execution.finished", execution=final.id, status=ending.status.value, credits=str(final.credits_used))
    await enqueue_alerts(deps, final, alerts)


def _build_message(final: Execution, run: Run | None, ending: ExecutionEnding, now: datetime) -> Message:
    """Return the answer that an execution leaves in its conversation, with what it wrote until it ended."""
    ended = ending.apply(final, now=now)
    if run is None:
        return build_message(ended)
    turns = fit_turns(run.turns, execution=final.id)
    if turns and run.last is not None and run.last.calls and not run.results:
        turns = (*turns[:-1], {**turns[-1], "text": ""})  # it ended after that turn, whose text is what the answer ends with
    plan = run.opening.summary if run.summary else None
    return build_message(
        ended,
        parts=turns,
        model=run.opening.model,
        label=run.label,
        summary=run.summary,
        summarized=0 if plan is None else plan.through,
    )


async def _store(
    deps: LoopDependencies, signer: Signer, run: Run | None, execution: Execution, ending: ExecutionEnding, now: datetime
) -> Sequence[str]:
    if not execution.cancel_requested:
        alerts = await _store_signed(deps, signer, run, execution, ending, now)
        if alerts is not None:
            return alerts
    # the cancel flag may have been set since it was last read; the signed record must show the stored one, and by whom
    stored = await deps.executions.get(execution.id)
    by = "" if stored is None else stored.cancelled_by
    return await _store_signed(deps, signer, run, replace(execution, cancel_requested=True, cancelled_by=by), ending, now) or ()


async def _store_signed(
    deps: LoopDependencies, signer: Signer, run: Run | None, execution: Execution, ending: ExecutionEnding, now: datetime
) -> Sequence[str] | None:
    closed, signed = receipts.sign_closing(signer, run, execution, ending, now)
    return await deps.executions.finish(closed, replace(ending, receipts=signed), now=now)


def is_overdue(deps: LoopDependencies, execution: Execution) -> bool:
    """Say whether the execution has taken longer than it may: what it waited for people does not count."""
    return is_over_time(execution, deps.execution_timeout, deps.clock.now())


def describe_timeout(deps: LoopDependencies) -> str:
    """Return the message of a timeout."""
    return f"the execution took longer than {int(deps.execution_timeout.total_seconds())} seconds"


def _read_last_text(run: Run | None) -> str | None:
    if run is None or run.last is None or run.last.summarizes:
        return None
    return join_text(run.last.content)
