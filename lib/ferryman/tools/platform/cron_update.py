"""The tool `cron_update`: change a schedule that an agent added."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.changes import change_value
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall, register_tool
from ferryman.tools.platform.scheduling import (
    check_task,
    describe_schedule,
    find_scheduled,
    read_schedule,
    set_timer,
    start_sweep,
)

TRIES = 5
"""How often a change is tried against others' changes."""


async def cron_update(
    *,
    id: str,  # noqa: A002 - the argument's name to the model
    db: PlatformCall,
    name: str | None = None,
    prompt: str | None = None,
    enabled: bool | None = None,
    cron: str | None = None,
    at: str | None = None,
    after_s: float | None = None,
    **_: Any,
) -> str:
    """Change what is named, and return the schedule as JSON. Raise `LocalFunctionError`."""
    db.check_right(Right.MANAGE)
    named = {"name": name, "task_prompt": prompt, "enabled": enabled, "schedule": read_schedule(cron, at, after_s)}
    changes = {field: value for field, value in named.items() if value is not None}
    if not changes:
        raise LocalFunctionError("name: is required, or another field that changes", code=INVALID_ARGUMENTS)
    plan = await db.find_plan()
    for _attempt in range(TRIES):
        task = await find_scheduled(db, id)
        changed = change_value(task, changes, now=db.deps.clock.now())
        check_task(db, changed, plan, changes=changes)
        try:
            return await _store(db, task, changed, changes)
        except StaleError:
            continue
        except (LimitReachedError, AgentGoneError) as error:
            raise LocalFunctionError(str(error) or "its agent is not there any more", code="conflict") from None
    raise UnavailableError("the schedule is being changed by others")


async def _store(db: PlatformCall, task: Task, changed: Task, changes: dict[str, Any]) -> str:
    """Store the changes, and set the schedule again where they do that. Raise `StaleError`."""
    fields = tuple(changes)
    if firing.must_rearm(task, changes):
        changed, fields = firing.rearm(changed, now=changed.updated_at), (*fields, *firing.SCHEDULE_FIELDS)
        await start_sweep(db, changed)
    if not await db.deps.tasks.update(changed, fields, since=task.updated_at):
        raise StaleError("the schedule is not there any more")
    await set_timer(db, changed)
    return json.dumps(describe_schedule(changed), ensure_ascii=False)


register_tool("cron_update", cron_update)
