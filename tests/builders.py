"""Builders: values of the domain with a default for every field, so that a test names those alone that it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from ferryman.catalog.tools import DECLARED
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.credentials.credential import AuthType, Label
from ferryman.domain.credits.alert import Alert
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Lease, Step
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.executions.usage import Usage
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.tool import Tool, ToolPolicy

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
"""The time at which everything is made, unless a test says another; `ManualClock` begins at it, too."""


def build_task(**fields: Any) -> Task:
    """Return a task `t` of the owner `o`, made at `START`."""
    at = fields.get("created_at", START)
    defaults = {"id": "t", "owner": "o", "name": "n", "task_prompt": "p", "model": "m", "created_at": at, "updated_at": at}
    return Task(**{**defaults, **fields})


def build_label(**fields: Any) -> Label:
    """Return the label of the first version of a bearer credential `K` of the service `s`, for the host a.test."""
    where = {"owner": "o", "task": "t", "name": "K", "version": 1, "service": "s", "hosts": ("a.test",)}
    return Label(**{**where, "auth_type": AuthType.BEARER, **fields})


def build_policy(**fields: Any) -> ExecutionPolicy:
    """Return a policy of the plan pro that approves nothing."""
    defaults = {"owner": "o", "task": "t", "plan": PRO, "tools": (), "integrations": (), "domains": ()}
    return ExecutionPolicy(**{**defaults, **fields})


def build_execution(**fields: Any) -> Execution:
    """Return a queued execution `e` of the task `t`, created at `START`."""
    return Execution(**{"id": "e", "task": "t", "owner": "o", "created_at": START, **fields})


def build_lease(**fields: Any) -> Lease:
    """Return the first lease of an execution, which `h` holds for two minutes from `START` on."""
    return Lease(**{"holder": "h", "epoch": 1, "expires_at": START + timedelta(minutes=2), **fields})


def build_setup(**fields: Any) -> ExecutionSetup:
    """Return the setup of an execution without tools, started at `START`."""
    limits = {"max_tokens": 100, "temperature": None, "max_iterations": 8, "max_credits": Decimal(100), "started_at": START}
    return ExecutionSetup(**{"model": "m", "system": "s", "prompt": "p", "tools": (), **limits, **fields})


def build_step(**fields: Any) -> Step:
    """Return the first turn, which asks for no call and costs one credit."""
    what = {"number": 1, "content": (), "stop_reason": "end_turn", "usage": Usage(), "credits": Decimal(1)}
    return Step(**{**what, "first_call": 0, "calls": 0, "event": 2, "at": START, **fields})


def build_ticket(**fields: Any) -> Ticket:
    """Return the ticket of the first call, of `http_get`, which was not sent yet."""
    what = {"seq": 0, "step": 1, "call": "c", "tool": "http_get", "arguments": b"", "display_arguments": {}}
    return Ticket(**{**what, "epoch": 1, "created_at": START, **fields})


def build_settled_ticket(**fields: Any) -> Ticket:
    """Return the ticket of a call that was answered at `START`."""
    result = ToolCallResult(fields.get("tool", "http_get"), "body", response_status=200)
    return build_ticket(**{"state": TicketState.SETTLED, "settled_at": START, "result": result, **fields})


def build_tool(**fields: Any) -> Tool:
    """Return a tool `look` of the kind `http`, without arguments."""
    return replace(DECLARED, **{"name": "look", "kind": "http", "function": "http_get", **fields})


def build_tool_policy(**fields: Any) -> ToolPolicy:
    """Return the policy of declared tools, with these fields."""
    return replace(DECLARED.policy, **fields)


def build_alert(**fields: Any) -> Alert:
    """Return the alert `alert_1` of an agent's cap of 100 credits, of which 80 percent are used."""
    amounts = {"limit": Decimal(100), "credits_used": Decimal(81), "credits_reserved": Decimal(0)}
    ids = {"id": "alert_1", "owner": "o", "workspace": "w", "subject": "agent_1", "execution": "e"}
    about = {"kind": CapKind.AGENT, "percent": 80, "month": "2026-11", "created_at": START}
    return Alert(**{**ids, **amounts, **about, **fields})
