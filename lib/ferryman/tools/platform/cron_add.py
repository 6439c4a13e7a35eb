"""The tool `cron_add`: have a prompt run at times to come, as a task of its own (S4-125)."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.tasks import firing
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.workspace import WorkspaceClosedError, WorkspaceGoneError
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall, register_tool
from ferryman.tools.platform.scheduling import (
    PREFIX,
    check_task,
    describe_schedule,
    draft_task,
    find_source,
    read_schedule,
    set_timer,
    start_sweep,
)


async def cron_add(
    *,
    name: str,
    prompt: str,
    db: PlatformCall,
    cron: str | None = None,
    at: str | None = None,
    after_s: float | None = None,
    **_: Any,
) -> str:
    """Store the schedule, once however often the call comes, and return it as JSON. Raise `LocalFunctionError`."""
    db.check_right(Right.MANAGE)
    schedule = read_schedule(cron, at, after_s)
    if schedule is None:
        raise LocalFunctionError("cron: is required, or at, or after_s", code=INVALID_ARGUMENTS)
    task = await db.deps.tasks.get(db.derive_name(PREFIX))
    if task is None:
        source, plan, now = await find_source(db), await db.find_plan(), db.deps.clock.now()
        task = draft_task(db, source, name=name, prompt=prompt, schedule=schedule, now=now)
        check_task(db, task, plan, changes={"schedule": schedule})
        task = firing.rearm(task, now=now)
        await start_sweep(db, task)
        try:
            await db.deps.tasks.create(task)
        except (LimitReachedError, AgentGoneError, WorkspaceGoneError, WorkspaceClosedError) as error:
            raise LocalFunctionError(str(error) or "its agent or workspace is not there any more", code="conflict") from None
        except ValueError:
            task = await db.deps.tasks.get(task.id) or task  # another delivery of this call has stored it
    await set_timer(db, task)
    return json.dumps(describe_schedule(task), ensure_ascii=False)


register_tool("cron_add", cron_add)
