"""Titles by the model: start the execution of one after an answer, and read the title that it ends with.

A failure leaves the conversation with the title that it has: nobody waits for it, and nobody is told.
"""

from __future__ import annotations

import secrets

from ferryman.domain.conversations.titles import PART_CHARACTERS_MAX, TitleNotNeededError, build_title_execution, clean_title
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.start import StartRejectedError, read_start
from ferryman.ports.errors import TaskDisabledError, UnavailableError
from ferryman.ports.executions import ExecutionEnding


async def start_title(deps: LoopDependencies, answer: Execution) -> None:
    """Start the execution that makes the title after an answer which has ended, where its conversation is to have one.

    The delivery that ended the answer may die before: one that comes again starts the same. Raise `UnavailableError`.
    """
    if not answer.begins_title:
        return
    try:
        await _start(deps, answer)
    except UnavailableError:
        raise
    except (StartRejectedError, TaskDisabledError, TitleNotNeededError, TooManyQueuedError, WorkspaceGoneError) as error:
        deps.log("title.not_started", execution=answer.id, reason=str(error))
    except Exception as fault:  # noqa: BLE001 - the answer has ended well: it must not come again for ever
        deps.log("title.not_started", execution=answer.id, reason=type(fault).__name__, severity="ERROR")


async def _start(deps: LoopDependencies, answer: Execution) -> None:
    ended, opening = await deps.executions.get(answer.id), await deps.executions.opening(answer.id)
    if ended is None or opening is None or ended.status is not Status.COMPLETED:
        return
    start = await read_start(deps, ended)
    halted = await deps.halts.find_halt_reason(ended.owner)
    if halted is not None:
        raise StartRejectedError(halted)
    # the question as its answer's model read it: scanned before it is cut, so that no half of a credential is left
    title = build_title_execution(
        ended,
        question=_frame(opening.prompt),
        text=_frame(ended.output or ""),
        now=deps.clock.now(),
        trace=deps.tracer.traceparent(),
    )
    occupied = await deps.conversations.start_title(title, most=start.plan.executions_queued)
    after = occupied.pause_start(title, most=start.plan.executions_running, now=title.created_at)
    await deps.queue.enqueue(title.id, slice=0, after=after)


def read_title(execution: Execution, ending: ExecutionEnding) -> str:
    """Return the title that an execution gives its conversation at its end; "" for one that gives none."""
    if not execution.titled_answer or ending.status is not Status.COMPLETED or execution.tool_calls_total:
        return ""  # of one that called tools, which it does not have, the output may be our own text
    return clean_title(_replace_invisible(ending.output or ""))


def _frame(text: str) -> str:
    """Return the beginning of a text as data of others (defence against prompt injection)."""
    from ferryman.framing.frame import neutralize_unframed, wrap  # with all scripts' letters: only titles need them here

    part = text[:PART_CHARACTERS_MAX]
    return wrap(neutralize_unframed(part), nonce=secrets.token_hex(8), truncated=part != text)


def _replace_invisible(text: str) -> str:
    """Return `text` with a space for each invisible character: without any, it could spell what no scan has found."""
    from ferryman.framing.frame import remove_invisible

    return "".join(remove_invisible(character) or " " for character in text)
