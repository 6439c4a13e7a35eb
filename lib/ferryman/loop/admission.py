"""Admission: a request that an application wrote becomes an execution, under the limits that the API holds, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.executions.request import ExecutionRequest, parse_request, select_accepted
from ferryman.domain.problem import InvalidInputError, build_input_error
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import TaskDisabledError


class NothingStartedError(Exception):
    """No fault of the request, but nothing is started now; the text says why."""


async def admit_request(deps: LoopDependencies, execution: str) -> bool:
    """Answer the request in the document `execution`. Return whether it is an execution now, which may be claimed."""
    fields = await deps.executions.find_request(execution)
    if fields is None:
        deps.log("delivery.unknown", execution=execution)
        return False
    try:
        await _admit(deps, execution, parse_request(execution, fields))
    except KeyError:
        deps.log("delivery.unknown", execution=execution)
        return False
    except (InvalidInputError, NothingStartedError, TooManyQueuedError) as error:
        return not await _refuse(deps, execution, fields, str(error))
    deps.log("execution.admitted", execution=execution)
    return True


async def _admit(deps: LoopDependencies, execution: str, request: ExecutionRequest) -> None:
    task = await deps.tasks.get(request.task)
    if task is None:
        raise build_input_error("task", f"there is no task {request.task}")
    if request.owner not in (None, task.owner):
        raise build_input_error("owner", f"is not the owner of task {task.id}, which belongs to another owner")
    owner = await deps.owners.get(task.owner)
    plan = deps.plans.get(owner.plan) if owner else None
    if plan is None:
        raise NothingStartedError("nothing is started: the owner's plan cannot run tasks")
    halted = await deps.halts.find_halt_reason(task.owner)
    if halted is not None:
        raise NothingStartedError(f"nothing is started: {halted}")
    started = Execution(
        id=execution,
        task=task.id,
        owner=task.owner,
        workspace=task.workspace,
        agent=task.agent,
        conversation=request.conversation,
        input=request.input,
        labels=request.labels,
        created_at=deps.clock.now(),
        trace=deps.tracer.traceparent(),
    )
    try:
        await deps.executions.admit(started, most=plan.executions_queued)
    except TaskDisabledError:
        raise build_input_error("task", f"{task.id} is disabled or deleted; enable it first") from None


async def _refuse(deps: LoopDependencies, execution: str, fields: Mapping[str, Any], error: str) -> bool:
    """Refuse the request; return False where another delivery admitted it meanwhile: what was read may be its execution."""
    is_refused = await deps.executions.refuse(execution, error, select_accepted(fields), now=deps.clock.now())
    if is_refused:
        deps.log("execution.refused", execution=execution, severity="WARNING")
    return is_refused
