"""The message of a notice: ids, the tool and the host, and no text of a model."""

from __future__ import annotations

from typing import Any

from ferryman.domain.approvals.approval import Approval
from ferryman.domain.approvals.host import find_host

TYPE = "approval.waiting"


def build_notice_body(approval: Approval) -> dict[str, Any]:
    """Return the JSON object that is sent: ids, the tool, the host of the request, where the approval is read, and its page."""
    data = {
        "approval_id": approval.id,
        "workspace_id": approval.workspace,
        "agent_id": approval.agent,
        "task_id": approval.task,
        "execution_id": approval.execution,
        "seq": approval.seq,
        "tool": approval.tool,
        "host": find_host(approval.form),
        "path": f"/v1/approvals/{approval.id}",
        "page": f"/console/approvals/{approval.id}",
        "expires_at": approval.expires_at.isoformat(),
    }
    return {"type": TYPE, "timestamp": approval.created_at.isoformat(), "data": data}
