"""The tool `orchestrator__list_conversations`: the conversations of the workspace, the newest first (S4-71)."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.workspaces.member import Right
from ferryman.tools.platform.call import PlatformCall, register_tool

LISTED_MAX = 200


async def list_conversations(*, limit: float, db: PlatformCall, **_: Any) -> str:
    """Return at most `limit` conversations as JSON, and whether there are more. Raise `LocalFunctionError`."""
    db.check_right(Right.READ)
    most = int(max(1, min(limit, LISTED_MAX)))
    page = await db.deps.conversations.list(db.owner, db.workspace, most=most)
    rows = [
        {
            "id": item.id,
            "title": item.title,
            "agent_id": item.agent,
            "messages": item.last,
            "created_at": item.created_at.isoformat(),
            "updated_at": item.updated_at.isoformat(),
        }
        for item in page.items
    ]
    return json.dumps({"conversations": rows, "has_more": page.end is not None}, ensure_ascii=False)


register_tool("orchestrator__list_conversations", list_conversations)
