"""What a tool function asks of the world about the call that it carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """Which call a tool function is asked to carry; whatever else there is to know of it is believed as stored."""

    execution: str
    seq: int
    epoch: int
    task: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedCall:
    """What a tool function gets when it claims a ticket: the ticket, the frozen policy, the fresh credential versions.

    `created` is when its execution was, `task_name` what its task is called; `again` tells that an earlier attempt was sent and
    nobody knows what came of it; `mark` is the store's own. `coverage` is the execution's, sealed as it is stored.
    """

    call_request: CallRequest
    ticket: Ticket
    policy: ExecutionPolicy
    versions: Mapping[str, int]
    created: datetime
    task_name: str = ""
    again: bool = False
    coverage: bytes = field(default=b"", repr=False)
    mark: Any = field(default=None, repr=False, compare=False)


class Tickets(Protocol):
    """Tickets as a tool function sees them.

    `claim` moves intended to sent in one transaction that also reads execution, task and kill switches; it raises `StaleError`
    when the epoch is not the current lease's, the lease has expired, the execution was cancelled or stopped, or the ticket is
    already on its way; it answers a settled ticket as it stands, and a sent one whose deadline has passed `again`. `settle`
    records the result of one attempt, `release` that an attempt never sent anything, so that the call may be claimed again.
    `scope` answers the execution whose lease has this epoch, with the versions its task's credentials must have.
    `cover` stores `after` as the execution's coverage in one transaction, unless something other than `before` is stored by
    then, and answers what is stored; it raises `StaleError` when the epoch is not the current lease's or the lease has expired.
    """

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall: ...
    async def settle(
        self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> None: ...
    async def release(self, claimed_call: ClaimedCall) -> None: ...
    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]: ...
    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes: ...
