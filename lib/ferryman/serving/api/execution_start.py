"""What every start of an execution over the API has in common: whether it may, what it is refused with, and its delivery."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.plan import Plan
from ferryman.domain.tasks.task import Task
from ferryman.ports.errors import TaskDisabledError
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.errors import ConflictError, TooManyRequestsError
from ferryman.serving.api.limits import start_rate, take_token
from ferryman.serving.api.rights import Caller

QUEUE_FULL_S = 30
"""After how many seconds a full queue is worth another try: by then some of it has started."""


async def check_start(deps: ApiDependencies, caller: Caller) -> Plan:
    """Return the plan of an owner who may start an execution now, and count it.

    Raise 429 where it comes too soon after the ones before, and 409 where a kill switch halts the owner.
    """
    plan = get_plan(deps, caller.owner)
    take_token(deps.starts, caller.owner.id, start_rate(plan), now=deps.clock.now(), what="executions")
    halted = await deps.halts.find_halt_reason(caller.owner.id)
    if halted is not None:
        raise ConflictError(f"nothing is started: {halted}")
    return plan


async def start_stored(
    deps: ApiDependencies,
    caller: Caller,
    task: Task,
    plan: Plan,
    *,
    complete: Callable[[Execution], Awaitable[Completion | None]] | None = None,
    traceparent: str = "",
    **fields: Any,
) -> Execution:
    """Store an execution of `task` with these `fields`, have it delivered, and return it.

    `complete` gives what is stored with it, so that the request is answered once. Raise as `translate_refusals` does.
    """
    name = deps.ids.new("exec")
    about = {"gen_ai.agent.id": task.id, "gen_ai.conversation.id": name}
    with deps.tracer.span("start_execution", about, kind="server", parent=traceparent):
        execution = Execution(
            id=name,
            task=task.id,
            owner=task.owner,
            workspace=task.workspace,
            agent=task.agent,
            person=caller.person,
            created_at=deps.clock.now(),
            trace=deps.tracer.traceparent(),
            **fields,
        )
        done = None if complete is None else await complete(execution)
        with translate_refusals(task):
            occupied = await deps.executions.start(execution, most=plan.executions_queued, done=done)
        after = occupied.pause_start(execution, most=plan.executions_running, now=execution.created_at)
        await enqueue_first(deps, execution.id, after=after)
    await deps.tracer.flush()
    return execution


@contextmanager
def translate_refusals(task: Task) -> Iterator[None]:
    """Raise 409 where the store refuses the block since the task is disabled by now, and 429 where too many are queued."""
    try:
        yield
    except TaskDisabledError:
        raise ConflictError(f"nothing is started: task {task.id} is disabled or deleted; enable it first") from None
    except TooManyQueuedError as error:
        raise TooManyRequestsError(str(error), after_s=QUEUE_FULL_S) from None


async def enqueue_first(deps: ApiDependencies, execution: str, *, after: timedelta) -> None:
    """Have an execution that is stored delivered for the first time, `after` so long. A failure is logged, and not raised."""
    try:
        await deps.queue.enqueue(execution, slice=0, after=after)
    except Exception as error:  # noqa: BLE001 - the document is there, so it is started all the same: on_execution enqueues it
        fault = type(error).__name__
        deps.tracer.line("execution.not_enqueued", severity="WARNING", execution=execution, error=fault)
