"""What is read of an execution before its model call: whether the call may be made, and when the execution was last written."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.copies import replace
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents
from ferryman.gcp.execution_documents import ADMITTED
from ferryman.gcp.halts import find_reason, list_switches
from ferryman.gcp.places import Places
from ferryman.gcp.wire import get_wire
from ferryman.ports.errors import HaltedError, TaskDisabledError

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient

READ = ("lease", "status", "cancel_requested", ADMITTED, "enabled", "on", "at")
"""The fields of the execution, its task and the kill switches that a model call depends on."""

CHECKED_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedExecution:
    """What was read of an execution before its model call; `updated_at` is when its document was last written."""

    lease: Lease
    cancel_requested: bool
    updated_at: Any


class CheckedExecutions:
    """The latest checks of one process, by execution, each for the commit that follows it."""

    def __init__(self) -> None:
        self._checked: OrderedDict[str, CheckedExecution] = OrderedDict()

    def put(self, execution: Execution, checked: CheckedExecution) -> None:
        """Keep what was read of `execution`."""
        self._checked[execution.id] = checked
        self._checked.move_to_end(execution.id)
        if len(self._checked) > CHECKED_MAX:
            self._checked.popitem(last=False)

    def take(self, execution: Execution) -> CheckedExecution | None:
        """Return what was read of `execution` under the lease that it has, once."""
        checked = self._checked.pop(execution.id, None)
        return checked if checked is not None and checked.lease.epoch == execution.epoch else None


async def read_checked(client: AsyncClient, places: Places, execution: Execution, *, now: datetime) -> CheckedExecution:
    """Read what may stop the next model call, in one batch. Raise `StaleError`, `HaltedError` or `TaskDisabledError`."""
    reference, task = places.locate_execution(execution.id), places.locate_task(execution.task)
    switches = list_switches(places, execution.owner)
    read = await get_wire(client).read([reference, task, *switches], READ)
    reason = find_reason([read[switch.path].fields for switch in switches], execution.created_at)
    if reason is not None:
        raise HaltedError(reason)
    if not (read[task.path].fields or {}).get("enabled", False):
        raise TaskDisabledError(DISABLED)
    stored = read[reference.path]
    fields = stored.fields or {}
    # as `execution_documents` reads it: what was only ever created is no execution that runs
    if fields.get(ADMITTED) is not True or stored.create_time == stored.update_time:
        raise StaleError("there is no such execution")
    lease = None if fields.get("lease") is None else documents.read(Lease, fields["lease"])
    current = replace(execution, lease=lease, status=Status(fields["status"]))
    fence = rules.check_fence(current, execution, now)
    return CheckedExecution(lease=fence, cancel_requested=bool(fields["cancel_requested"]), updated_at=stored.update_time)
