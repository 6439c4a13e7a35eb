"""The tool `cron_remove`: delete a schedule that an agent added."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.workspaces.member import Right
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall, register_tool
from ferryman.tools.platform.scheduling import PREFIX, find_scheduled


async def cron_remove(*, id: str, db: PlatformCall, **_: Any) -> str:  # noqa: A002 - the argument's name to the model
    """Delete the schedule with its task. One that is not there was removed, maybe by this call before. Raise
    `LocalFunctionError`."""
    db.check_right(Right.MANAGE)
    if not id.startswith(f"{PREFIX}_"):
        raise LocalFunctionError("id: an agent removes only the schedules that agents added", code="forbidden")
    try:
        task = await find_scheduled(db, id)
    except LocalFunctionError:
        return json.dumps({"id": id, "removed": False, "why": "there is no such schedule, or no longer"})
    return json.dumps({"id": id, "removed": await db.deps.tasks.delete(task.id)})


register_tool("cron_remove", cron_remove)
