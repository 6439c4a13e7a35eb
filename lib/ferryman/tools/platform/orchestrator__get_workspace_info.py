"""The tool `orchestrator__get_workspace_info`: the workspace, and its agents (S4-70)."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.workspaces.member import Right
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall, register_tool


async def get_workspace_info(*, include_agents: bool, db: PlatformCall, **_: Any) -> str:
    """Return the workspace as JSON. Raise `LocalFunctionError`."""
    db.check_right(Right.READ)
    workspace = await db.deps.workspaces.get(db.workspace, owner=db.owner)
    if workspace is None:
        raise LocalFunctionError("the workspace is not there any more", code="not_found")
    answer: dict[str, Any] = {
        "id": workspace.id,
        "name": workspace.name,
        "state": str(workspace.state),
        "created_at": workspace.created_at.isoformat(),
    }
    if include_agents:
        agents = await db.deps.agents.list(db.owner, db.workspace)
        answer["agents"] = [
            {
                "id": agent.id,
                "name": agent.name,
                "description": agent.description,
                "archived": agent.archived,
                "is_asking": agent.id == db.execution.agent,
            }
            for agent in agents
        ]
    return json.dumps(answer, ensure_ascii=False)


register_tool("orchestrator__get_workspace_info", get_workspace_info)
