"""Cancelling an execution over HTTP: nothing more is sent of it, and one that waits for a time does not wait any longer."""

from __future__ import annotations

from ferryman.answer_order import wake_next_answer
from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import OWNER, Execution
from ferryman.serving.api.rights import Caller


async def cancel(deps: ApiDependencies, caller: Caller, execution: str) -> Execution | None:
    """Cancel the execution in the caller's name; None where it is gone. Raise `UnavailableError` where nothing was stored."""
    cancelled = await deps.executions.cancel(execution, by=caller.person or OWNER, now=deps.clock.now())
    if cancelled is not None and cancelled.status.terminal:
        await wake_next_answer(deps.conversations, deps.queue, deps.tracer, cancelled)
    elif cancelled is not None:
        try:
            # one that waits for its next slice must not wait any longer
            await deps.queue.enqueue(execution, slice=cancelled.slice, wake_up="cancel")
        except Exception as error:  # noqa: BLE001 - the flag is stored, and the next delivery reads it
            deps.tracer.line("cancel.not_enqueued", severity="WARNING", execution=execution, error=type(error).__name__)
    return cancelled
