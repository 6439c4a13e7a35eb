"""Tasks over HTTP, with their schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.changes import change_value
from ferryman.domain.owners.idempotency import AnsweredError, Completion
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks import firing
from ferryman.domain.tasks import task as rules
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.ports.errors import UnavailableError
from ferryman.schedules.fire import arm_timer
from ferryman.serving.api.access import MANAGES, READS, CurrentCaller, Dependencies, OwnedTask, get_plan
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.idempotency import Idempotency
from ferryman.serving.api.paging import ByTime
from ferryman.serving.api.remote_entries import name_remote_tools
from ferryman.serving.api.shapes import task as shapes
from ferryman.serving.api.task_agents import NOT_FOUND
from ferryman.serving.api.task_checks import TaskRoute, check_task, draft_task, read_fields
from ferryman.tools.declared import storing

TRIES = 10
"""How often turning a task off is tried against others' changes."""

router = APIRouter(route_class=TaskRoute, prefix="/v1/tasks", tags=["tasks"])


@router.post("", dependencies=[MANAGES], status_code=201, summary="Store a new task")
async def create_task(
    body: shapes.NewTask, deps: Dependencies, caller: CurrentCaller, once: Idempotency, response: Response
) -> shapes.TaskResponse:
    plan, now = get_plan(deps, caller.owner), once.now
    body = await name_remote_tools(deps, caller, body, body.agent_id or "")
    task = draft_task(body, caller, plan, id=once.name("task"), now=now)
    changes = {"agent": task.agent, "webhook_urls": task.webhook_urls, "schedule": task.schedule}
    tools = await check_task(deps, plan, task, body, changes=changes)
    task = firing.rearm(task, now=now)
    await _start_sweep(deps, task)
    answer, location = shapes.TaskResponse.model_validate(task), f"/v1/tasks/{task.id}"
    done = await once.complete(201, answer, location=location)
    try:
        await deps.tasks.create(task, done=None if tools else done)
    except AgentGoneError:
        raise InvalidInputError([NOT_FOUND]) from None
    try:
        await _store_tools(deps, task, tools, done)
    except AnsweredError:
        raise  # another attempt has made all of it
    except BaseException:
        await deps.tasks.delete(task.id)  # it was asked for with its tools, and is not there without
        raise
    await _set_timer(deps, task)
    response.headers["Location"] = location
    return answer


@router.get("", dependencies=[READS], summary="Your tasks, oldest first")
async def list_tasks(
    deps: Dependencies,
    caller: CurrentCaller,
    paging: ByTime,
    agent: Annotated[str | None, Query(max_length=64, description="Only those of this agent")] = None,
    enabled: Annotated[bool | None, Query(description="Only those that are enabled, or only those that are not")] = None,
    name: Annotated[str | None, Query(max_length=rules.NAME_CHARACTERS_MAX, description="Only those of this name")] = None,
) -> shapes.TaskList:
    which = rules.TaskFilter(agent=agent, enabled=enabled, name=name)
    page = await deps.tasks.list(caller.workspace, which=which, after=paging.after, most=paging.limit)
    return shapes.TaskList(tasks=tuple(map(shapes.ListedTask.model_validate, page)), next=paging.write_next(page.end))


@router.get("/{task_id}", dependencies=[READS], summary="One task")
async def get_task(task: OwnedTask) -> shapes.TaskResponse:
    return shapes.TaskResponse.model_validate(task)


@router.patch("/{task_id}", dependencies=[MANAGES], summary="Change some fields of a task")
async def change_task(
    body: shapes.TaskChange, task: OwnedTask, deps: Dependencies, caller: CurrentCaller
) -> shapes.TaskResponse:
    named = body.agent_id or "" if "agent_id" in body.model_fields_set else task.agent
    body = await name_remote_tools(deps, caller, body, named)
    changes = read_fields(body, task.workspace, exclude_unset=True)
    if changes == {"enabled": False}:
        return await _turn_off(deps, task)
    changed = change_value(task, changes, now=deps.clock.now())
    tools = await check_task(deps, get_plan(deps, caller.owner), changed, body, changes=changes)
    changed, fields = _rearm(task, changed, changes)
    is_rearmed = "next_fire_at" in fields
    if is_rearmed:
        await _start_sweep(deps, changed)
    if tools:
        await storing.check_addition(deps.clusters, task.id, tools)
    try:
        is_stored = await deps.tasks.update(changed, fields, since=task.updated_at)
    except AgentGoneError:
        raise InvalidInputError([NOT_FOUND]) from None
    if not is_stored:
        raise NotFoundError("task")
    await _store_tools(deps, changed, tools)
    if is_rearmed:
        await _set_timer(deps, changed)
    return shapes.TaskResponse.model_validate(changed)


async def _store_tools(
    deps: ApiDependencies, task: Task, tools: Sequence[DeclaredTool], done: Completion | None = None
) -> None:
    if tools:
        await storing.add_tools(deps.clusters, task.id, tools, done)


async def _turn_off(deps: ApiDependencies, task: Task) -> shapes.TaskResponse:
    """Turn the task off, whatever has become of the plan or the catalog, and also while others change it."""
    changes = {"enabled": False}
    for _ in range(TRIES):
        changed, fields = _rearm(task, change_value(task, changes, now=deps.clock.now()), changes)
        try:
            if await deps.tasks.update(changed, fields, since=task.updated_at):
                return shapes.TaskResponse.model_validate(changed)
        except StaleError:
            task = await deps.tasks.get(task.id) or task
            continue
        raise NotFoundError("task")
    raise StaleError("changed by somebody else")


@router.delete("/{task_id}", dependencies=[MANAGES], status_code=204, summary="Delete a task and its credentials")
async def delete_task(task: OwnedTask, deps: Dependencies) -> None:
    await deps.tasks.delete(task.id)


def _rearm(before: Task, after: Task, changes: Mapping[str, Any]) -> tuple[Task, tuple[str, ...]]:
    """Return `after`, with its schedule set again where the `changes` do that, and the names of the fields to store."""
    if not firing.must_rearm(before, changes):
        return after, tuple(changes)
    return firing.rearm(after, now=after.updated_at), (*changes, *firing.SCHEDULE_FIELDS)


async def _start_sweep(deps: ApiDependencies, task: Task) -> None:
    """Have the sweep find the next time of `task`. Called before the task is stored, so that a crash in between loses no time.

    Raises `UnavailableError`.
    """
    if task.next_fire_at is not None:
        await deps.timers.sweep(due=firing.find_next_window(deps.clock.now()))


async def _set_timer(deps: ApiDependencies, task: Task) -> None:
    """Set the timer of the task's next time; the sweep does it where this fails."""
    try:
        await arm_timer(deps.timers, task, now=deps.clock.now())
    except UnavailableError as error:
        deps.tracer.line("task.timer_not_set", severity="WARNING", task=task.id, error=str(error))
