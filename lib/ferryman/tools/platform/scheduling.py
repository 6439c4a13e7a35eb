"""Schedules that an agent sets: tasks of their own, which have at most what the task has that asked for them (`cron_*`).

The model writes the prompt and the times alone. Tools, integrations, limits and rules are those of the task whose execution
asks, without the tools that change schedules, and without those that the execution itself may not call; credentials are not
passed on. A person who may not manage tasks cannot have an agent do it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ferryman.catalog.tools import TOOLS, find_tool
from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import Problem
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.schedule import Schedule, ScheduleType, find_past_problems
from ferryman.domain.tasks.task import Task, TaskSummary, find_task_problems
from ferryman.ports.errors import UnavailableError
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall

PREFIX = "task_cron"
"""How the id begins of a task that an agent scheduled. What people schedule, no agent changes."""

PROMPT_CHARACTERS_MAX = 2_000
"""Of a prompt that a model writes: so long a one is checked in some milliseconds."""

SCHEDULES = "schedules"
"""What tools that change schedules change, by their entries in the catalog."""

NOT_FOUND = "not_found"


def read_schedule(cron: str | None, at: str | None, after_s: float | None) -> Schedule | None:
    """Return the schedule that the arguments of a call say, None where they say none. Raise `LocalFunctionError`."""
    named = {"cron": cron, "at": at, "after_s": after_s}
    names = [name for name, value in named.items() if value is not None]
    if not names:
        return None
    if len(names) > 1:
        raise LocalFunctionError(f"{' and '.join(names)}: only one of them may be set", code=INVALID_ARGUMENTS)
    if cron is not None:
        return Schedule(type=ScheduleType.CRON, cron=cron)
    if after_s is not None:
        return Schedule(type=ScheduleType.DELAYED, after_s=int(after_s))
    try:
        moment = datetime.fromisoformat(at or "")
    except ValueError:
        moment = datetime.min
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise LocalFunctionError("at: must be a moment as 2026-12-24T18:00:00+01:00, with its offset", code=INVALID_ARGUMENTS)
    return Schedule(type=ScheduleType.ONCE, at=moment.astimezone(UTC))


def draft_task(call: PlatformCall, source: Task, *, name: str, prompt: str, schedule: Schedule, now: datetime) -> Task:
    """Return the task of a new schedule. It says who asked for it."""
    execution = call.execution
    # the agent's settings of conversations take tools away that its task has: what it schedules is no conversation
    allowed = frozenset[str]() if execution.policy is None else frozenset(execution.policy.tools)
    asked_by = execution.person or "the owner"
    return Task(
        id=call.derive_name(PREFIX),
        owner=execution.owner,
        workspace=execution.workspace,
        agent=source.agent,
        name=name,
        description=f"Scheduled by the agent {source.agent} in execution {execution.id}, which {asked_by} asked for.",
        model=source.model,
        tools=tuple(tool for tool in source.tools if tool in allowed and SCHEDULES not in find_tool(tool).policy.changes),
        integrations=source.integrations,
        webhook_urls=source.webhook_urls,
        webhook_match=source.webhook_match,
        tool_loading=source.tool_loading,
        approvals=source.approvals,
        max_iterations=source.max_iterations,
        max_credits=source.max_credits,
        max_credits_month=source.max_credits_month,
        temperature=source.temperature,
        max_tokens=source.max_tokens,
        schedule=schedule,
        task_prompt=prompt,
        created_at=now,
        updated_at=now,
    )


def check_task(call: PlatformCall, task: Task, plan: Plan, *, changes: Mapping[str, Any]) -> None:
    """Raise `LocalFunctionError`, which names every field that is not accepted, by the rules of all tasks."""
    if len(task.task_prompt) > PROMPT_CHARACTERS_MAX:
        raise LocalFunctionError(
            f"prompt: must be at most {PROMPT_CHARACTERS_MAX:,} characters, is {len(task.task_prompt):,}",
            code=INVALID_ARGUMENTS,
        )
    models = () if task.model is None else (task.model.partition("/")[0],)
    known = {"tools": {*TOOLS, *task.tools}, "integrations": {*call.deps.integrations, *task.integrations}, "models": models}
    problems = find_task_problems(task, plan=plan, **known)
    problems += find_past_problems(changes.get("schedule"), now=task.updated_at)
    if problems:
        raise LocalFunctionError("; ".join(map(_tell, problems)), code=INVALID_ARGUMENTS)


async def find_source(call: PlatformCall) -> Task:
    """Return the task whose execution asks. Raise `LocalFunctionError`."""
    task = await call.deps.tasks.get(call.execution.task)
    if task is None or task.workspace != call.workspace:
        raise LocalFunctionError("the task that asks is not there any more", code=NOT_FOUND)
    return task


async def find_scheduled(call: PlatformCall, name: str) -> Task:
    """Return a task of this workspace that an agent scheduled, by its id. Raise `LocalFunctionError`."""
    task = await call.deps.tasks.get(name) if name.startswith(f"{PREFIX}_") and len(name) <= len(PREFIX) + 25 else None
    if task is None or (task.owner, task.workspace) != (call.owner, call.workspace):
        raise LocalFunctionError(
            "id: there is no such schedule; cron_list lists them, and an agent changes only those that agents added",
            code=NOT_FOUND,
        )
    return task


async def start_sweep(call: PlatformCall, task: Task) -> None:
    """Have the sweep find the next time of `task`, before it is stored: a crash in between loses no time."""
    if task.next_fire_at is not None:
        await call.deps.timers.sweep(due=firing.find_next_window(call.deps.clock.now()))


async def set_timer(call: PlatformCall, task: Task) -> None:
    """Set the timer of the task's next time; the sweep does it where this fails."""
    with suppress(UnavailableError):
        await call.deps.arm_timer(call.deps.timers, task, call.deps.clock.now())


def describe_schedule(task: TaskSummary) -> dict[str, Any]:
    """Return what is told of a schedule."""
    schedule = task.schedule
    times = {} if schedule is None else {"cron": schedule.cron, "at": _format(schedule.at), "after_s": schedule.after_s}
    fields = {
        "id": task.id,
        "name": task.name,
        **times,
        "next_at": _format(task.next_fire_at),
        "enabled": task.enabled,
        "paused": task.paused,
        "added_by_agent": task.id.startswith(f"{PREFIX}_"),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _tell(problem: Problem) -> str:
    names = {"task_prompt": "prompt", "schedule.cron": "cron", "schedule.at": "at", "schedule.after_s": "after_s"}
    return f"{names.get(problem.field, problem.field)}: {problem.message}"


def _format(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
