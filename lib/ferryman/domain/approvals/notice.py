"""The notice of a call that waits: one message to the address of its workspace's alerts, with ids and no text of a model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.credits.alert import AlertState
from ferryman.domain.http.url import InvalidUrlError, parse_url

if TYPE_CHECKING:
    from ferryman.domain.approvals.approval import Approval

PREFIX = "appr_"
"""How the ids of approvals begin: the queue of alerts delivers their notices, too."""

TYPE = "approval.waiting"
DECIDED = "it was decided about before its receiver took it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What became of the notice; its fields are those of an alert that say it."""

    state: AlertState = AlertState.PENDING
    attempts: int = 0
    status: int | None = None
    reason: str = ""
    settled_at: datetime | None = None


def is_settled(stored: Notice, attempt: Notice) -> bool:
    """Tell whether `stored` stays as it is: it is settled, or another delivery of this `attempt` was sooner."""
    return stored.state is not AlertState.PENDING or stored.attempts >= attempt.attempts


def build_notice_body(approval: Approval) -> dict[str, Any]:
    """Return the JSON object that is sent: ids, the tool, the host of the request, and where the approval is read."""
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
        "expires_at": approval.expires_at.isoformat(),
    }
    return {"type": TYPE, "timestamp": approval.created_at.isoformat(), "data": data}


def find_host(form: str) -> str | None:
    """Return the host of the request that a canonical form is of; None where it is of no request."""
    try:
        what = json.loads(form)["what"]
        return parse_url(what["url"]).host if what["kind"] == "http" else None
    except (InvalidUrlError, ValueError, LookupError, TypeError):
        return None  # it is of no request, or a document that was written by somebody else
