"""Tasks: the list, a new one, and one with all of its fields, which is started, enabled, disabled and deleted here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.form_fields import (
    FormField,
    find_changes,
    group_fields,
    list_problems,
    read_body,
    repeat_values,
    require_consent,
    write_values,
)
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect
from ferryman.serving.console.task_fields import build_task_fields

PATH = f"{ROOT}/tasks"
NEW_PATH = f"{PATH}/new"
LATER_MAX = 4
"""How many moments of a schedule are shown after the next one."""

SCHEDULED_BY = {"cron": "cron", "once": "at", "delayed": "after_s"}
"""The field of each type of a schedule: the form shows no other, and none is sent."""


async def show_tasks(request: ConsoleRequest) -> ConsolePage:
    """Show the tasks of the workspace, oldest first."""
    listed, agents = await asyncio.gather(
        request.api.get("/v1/tasks", cursor=request.query.get("cursor")), request.api.get("/v1/agents", limit=100)
    )
    names = {agent["agent_id"]: agent["name"] for agent in agents["agents"]}
    return ConsolePage(template="tasks.html", title="Tasks", values={"listed": listed, "agent_names": names})


async def show_new_task(request: ConsoleRequest) -> ConsolePage:
    """Show the form of a task that is not there yet."""
    fields = await build_task_fields(request)
    initial = {"webhook_match": "host", "tool_loading": "all", "enabled": True, "temperature": 0.3, "max_tokens": 4096}
    return _show_form(fields, write_values(fields, initial), {})


async def create_task(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the task that was typed."""
    fields = await build_task_fields(request)
    try:
        created = await request.api.post("/v1/tasks", _read_task(fields, request, {}), once=request.read_field("once"))
    except ApiProblemError as error:
        return _show_form(fields, repeat_values(fields, request.form), list_problems(error), status=error.status)
    return Redirect(path=f"{PATH}/{created['task_id']}", done="created")


async def show_task(request: ConsoleRequest) -> ConsolePage:
    """Show a task, with what can be done with it."""
    return await _show(request)


async def change_task(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the fields that differ from what is stored: a schedule that is as it was is not set again."""
    stored = await _get(request)
    fields = await build_task_fields(request, stored["agent_id"])
    try:
        body = _read_task(fields, request, stored)
        changes = find_changes(body, stored)
        if changes:
            await request.api.patch(f"/v1/tasks/{stored['task_id']}", changes)
    except ApiProblemError as error:
        return await _show(request, error, typed=repeat_values(fields, request.form))
    return Redirect(path=request.path, done="saved")


async def enable_task(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Enable the task: it can be started, and its schedule runs."""
    return await _switch(request, is_enabled=True)


async def disable_task(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Disable the task: nothing starts it until it is enabled."""
    return await _switch(request, is_enabled=False)


async def start_task(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Start an execution of the task."""
    body = {"input": request.read_field("input")} if request.read_field("input") else {}
    try:
        started = await request.api.post(
            f"/v1/tasks/{request.params['task']}/executions", body, once=request.read_field("once")
        )
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=f"{ROOT}/executions/{started['execution_id']}", done="started")


async def delete_task(request: ConsoleRequest) -> Redirect:
    """Delete the task and its credentials, where the box of the form was ticked."""
    require_consent(request.form)
    await request.api.delete(f"/v1/tasks/{request.params['task']}")
    return Redirect(path=PATH, done="deleted")


async def _switch(request: ConsoleRequest, *, is_enabled: bool) -> ConsolePage | Redirect:
    try:
        await request.api.patch(f"/v1/tasks/{request.params['task']}", {"enabled": is_enabled})
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="saved")


async def _get(request: ConsoleRequest) -> dict[str, Any]:
    task: dict[str, Any] = await request.api.get(f"/v1/tasks/{request.params['task']}")
    return task


async def _show(
    request: ConsoleRequest, refused: ApiProblemError | None = None, typed: Mapping[str, str] | None = None
) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    task = await _get(request)
    fields = await build_task_fields(request, task["agent_id"])
    return ConsolePage(
        template="task.html",
        title=show_text(task["name"]),
        values={
            "task": task,
            "later": _list_later(task),
            "groups": group_fields(fields),
            "values": typed or write_values(fields, task | _flatten(task["schedule"])),
            "errors": list_problems(refused),
            "here": f"{PATH}/{task['task_id']}",
            "typed_input": request.read_field("input"),
            "input_max": INPUT_CHARACTERS_MAX,
        },
        status=200 if refused is None else refused.status,
    )


def _show_form(
    fields: tuple[FormField, ...], values: Mapping[str, str], errors: Mapping[str, str], status: int = 200
) -> ConsolePage:
    known = {"groups": group_fields(fields), "values": values, "errors": errors}
    return ConsolePage(template="task_new.html", title="New task", values=known, status=status)


def _flatten(schedule: Mapping[str, Any] | None) -> dict[str, Any]:
    return {f"schedule.{name}": value for name, value in (schedule or {}).items()}


def _read_task(fields: tuple[FormField, ...], request: ConsoleRequest, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a task. Its schedule has what was typed, and is the stored one where that says the same."""
    body = read_body(fields, request.form)
    typed = {name: body.pop(f"schedule.{name}") for name in ("type", "cron", "at", "after_s") if f"schedule.{name}" in body}
    typed = {name: value for name, value in typed.items() if name in ("type", SCHEDULED_BY.get(typed.get("type", ""), ""))}
    before = stored.get("schedule")
    same = before is not None and {name: value for name, value in before.items() if value is not None} == typed
    body["schedule"] = before if same else typed if "type" in typed else None
    return body


def _list_later(task: Mapping[str, Any]) -> list[str]:
    """Return the moments at which a task of a cron expression runs after the next one."""
    if task["schedule"] is None or task["schedule"]["cron"] is None or task["next_fire_at"] is None:
        return []
    schedule = Schedule(type=ScheduleType.CRON, cron=task["schedule"]["cron"])
    moment: datetime | None = datetime.fromisoformat(task["next_fire_at"])
    later: list[str] = []
    while len(later) < LATER_MAX and moment is not None:
        moment = schedule.compute_next(moment)
        later += [] if moment is None else [moment.isoformat()]
    return later


ROUTES = (
    ConsoleRoute(path=PATH, show=show_tasks, section="tasks"),
    ConsoleRoute(path=NEW_PATH, show=show_new_task, section="tasks", actions={"create": create_task}),
    ConsoleRoute(
        path=f"{PATH}/{{task}}",
        show=show_task,
        section="tasks",
        actions={"change": change_task, "on": enable_task, "off": disable_task, "start": start_task, "delete": delete_task},
    ),
)
