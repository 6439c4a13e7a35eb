"""The tool `cron_runs`: the executions of a schedule that an agent added, the newest first."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.workspaces.member import Right
from ferryman.ports.executions import Filter
from ferryman.tools.platform.call import PlatformCall, register_tool
from ferryman.tools.platform.scheduling import find_scheduled

LIMIT_MAX = 50


async def cron_runs(*, id: str, limit: float, db: PlatformCall, **_: Any) -> str:  # noqa: A002 - the argument's name to the model
    """Return at most `limit` of them as JSON. Raise `LocalFunctionError`."""
    db.check_right(Right.READ)
    task = await find_scheduled(db, id)
    most = int(max(1, min(limit, LIMIT_MAX)))
    page = await db.deps.executions.list(db.workspace, which=Filter(task=task.id), most=most)
    rows = [
        {
            "execution_id": item.id,
            "status": str(item.status),
            "created_at": item.created_at.isoformat(),
            "completed_at": item.completed_at.isoformat() if item.completed_at else None,
            "credits": str(item.credits_used),
            "error": item.error,
        }
        for item in page.items
    ]
    return json.dumps({"id": task.id, "runs": rows}, ensure_ascii=False)


register_tool("cron_runs", cron_runs)
