"""Tasks over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ferryman.domain import firing
from ferryman.domain import task as rules
from ferryman.domain.declared import Declared
from ferryman.domain.owner import Owner
from ferryman.domain.plan import Plan
from ferryman.domain.problem import Invalid
from ferryman.domain.schedule import Schedule, passed
from ferryman.domain.task import Task
from ferryman.ports import Stale
from ferryman.serving.api import custom, schedules, webhooks
from ferryman.serving.api.asking import By, TheHouse, TheirTask
from ferryman.serving.api.faults import not_found
from ferryman.serving.api.shapes import task as shapes
from ferryman.tools.custom import storing
from ferryman.wiring.api import House

TRIES = 10
"""How often turning a task off is tried against others' changes."""

router = APIRouter(prefix="/v1/tasks", tags=["tasks"])


@router.post("", status_code=201, summary="Store a new task")
async def create(asked: shapes.NewTask, house: TheHouse, owner: By, response: Response) -> shapes.TaskShown:
    plan = _plan(house, owner)
    if await house.tasks.count(owner.id) >= rules.TASKS_PER_OWNER_MAX:
        raise HTTPException(409, f"an owner may have at most {rules.TASKS_PER_OWNER_MAX} tasks")
    now = house.clock.now()
    limits = {
        "max_iterations": min(rules.ITERATIONS_DEFAULT, plan.iterations),
        "max_credits": min(rules.CREDITS_DEFAULT, plan.credits_per_execution),
    }
    given = asked.model_dump(exclude=limits.keys() - asked.model_fields_set)
    given["schedule"] = _schedule(asked)
    declared = _declared(given)
    task = Task(id=house.ids.new("task"), owner=owner.id, created_at=now, updated_at=now, **{**limits, **given})
    await _check(house, plan, task, webhook_urls=task.webhook_urls, schedule=task.schedule)
    tools = custom.read(declared, task, house, places=_places(asked))
    task = firing.armed(task, now=now)
    await schedules.admit(house, owner, task)
    await house.tasks.create(task)
    try:
        await _added(house, task, tools)
    except BaseException:
        await house.tasks.delete(task.id)  # it was asked for with its tools, and is not there without
        raise
    await schedules.set_timer(house, task)
    response.headers["Location"] = f"/v1/tasks/{task.id}"
    return shapes.shown(task)


@router.get("", summary="Your tasks, oldest first")
async def listed(house: TheHouse, owner: By) -> shapes.TaskList:
    return shapes.TaskList(tasks=tuple(shapes.shown(task) for task in await house.tasks.list(owner.id)))


@router.get("/{task_id}", summary="One task")
async def one(task: TheirTask) -> shapes.TaskShown:
    return shapes.shown(task)


@router.patch("/{task_id}", summary="Change some fields of a task")
async def change(asked: shapes.TaskChange, task: TheirTask, house: TheHouse, owner: By) -> shapes.TaskShown:
    given: dict[str, Any] = asked.model_dump(exclude_unset=True)
    declared = _declared(given)
    if "schedule" in given:
        given["schedule"] = _schedule(asked)
    if given == {"enabled": False}:
        return await _turned_off(house, task)
    changed = rules.changed(task, given, now=house.clock.now())
    await _check(
        house, _plan(house, owner), changed, webhook_urls=given.get("webhook_urls", ()), schedule=given.get("schedule")
    )
    tools = custom.read(declared, changed, house, places=_places(asked))
    changed, fields = schedules.rearmed(task, changed, given)
    anew = "next_fire_at" in fields
    if anew:
        await schedules.admit(house, owner, changed, task)
    if not await house.tasks.update(changed, fields, since=task.updated_at):
        raise not_found("task")
    await _added(house, changed, tools)
    if anew:
        await schedules.set_timer(house, changed)
    return shapes.shown(changed)


def _declared(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools that are declared in the list of tools; in `given` only the names stay."""
    tools = given.get("tools", ())
    if "tools" in given:
        given["tools"] = tuple(each for each in tools if isinstance(each, str))
    return [each for each in tools if not isinstance(each, str)]


def _places(asked: shapes.NewTask | shapes.TaskChange) -> list[str]:
    return [f"tools.{index}" for index, each in enumerate(asked.tools) if not isinstance(each, str)]


async def _added(house: House, task: Task, tools: Sequence[Declared]) -> None:
    if tools:
        await storing.added(house.clusters, task.id, tools)


async def _turned_off(house: House, task: Task) -> shapes.TaskShown:
    """A task can be turned off whatever has become of the plan or the catalog, and whoever else is changing it."""
    given = {"enabled": False}
    for _ in range(TRIES):
        changed, fields = schedules.rearmed(task, rules.changed(task, given, now=house.clock.now()), given)
        try:
            if await house.tasks.update(changed, fields, since=task.updated_at):
                return shapes.shown(changed)
        except Stale:
            task = await house.tasks.get(task.id) or task
            continue
        raise not_found("task")
    raise Stale("changed by somebody else")


@router.delete("/{task_id}", status_code=204, summary="Delete a task and its credentials")
async def delete(task: TheirTask, house: TheHouse) -> None:
    await house.tasks.delete(task.id)


def _plan(house: House, owner: Owner) -> Plan:
    plan = house.plans.get(owner.plan)
    if plan is None:
        raise HTTPException(403, f"tasks are not available on your plan; they are on: {', '.join(house.plans)}")
    return plan


def _schedule(asked: shapes.NewTask | shapes.TaskChange) -> Schedule | None:
    return None if asked.schedule is None else asked.schedule.schedule()


async def _check(house: House, plan: Plan, task: Task, *, webhook_urls: tuple[str, ...], schedule: Schedule | None) -> None:
    """Raises `Invalid`; the webhook URLs and the schedule that are given anew are held to more than those that stand."""
    tools = {tool.name for tool in house.tools}
    found = rules.problems(task, plan=plan, tools=tools, integrations=house.integrations, models=house.models)
    found += passed(schedule, now=house.clock.now())
    # names are asked only for URLs that the grammar and the limit let pass
    if not any(each.field.startswith("webhook_urls") for each in found):
        found += await webhooks.problems(webhook_urls, house.names)
    if found:
        raise Invalid(found)
