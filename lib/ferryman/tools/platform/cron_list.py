"""The tool `cron_list`: the schedules of the workspace, set by people and by agents."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.workspaces.member import Right
from ferryman.tools.platform.call import PlatformCall, register_tool
from ferryman.tools.platform.scheduling import describe_schedule


async def cron_list(*, db: PlatformCall, **_: Any) -> str:
    """Return the schedules as JSON, the oldest first. Raise `LocalFunctionError`."""
    db.check_right(Right.READ)
    page = await db.deps.tasks.list(db.workspace)
    schedules = [describe_schedule(task) for task in page.items if task.schedule is not None and task.owner == db.owner]
    return json.dumps({"schedules": schedules}, ensure_ascii=False)


register_tool("cron_list", cron_list)
