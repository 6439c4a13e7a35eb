"""The ports of the platform's own server: the keys that its requests are signed with, their nonces, and the calls they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.executions import lease
from ferryman.domain.executions.execution import Execution
from ferryman.domain.stale import StaleError


class RequestKeys(Protocol):
    """The keys of signed requests. Both raise `UnavailableError` where they cannot be read.

    `signing` returns the newest one; `valid` returns those that are good, the newest and while it is rotated the one before.
    `renewed` has them be read again, at most every few seconds, and returns them where they are others than before, else none.
    """

    async def signing(self) -> bytes: ...
    async def valid(self) -> Sequence[bytes]: ...
    async def renewed(self) -> Sequence[bytes]: ...


class Nonces(Protocol):
    """The nonces that were used. `use` returns whether it is the first use of this one, and remembers it until `until`."""

    async def use(self, nonce: str, *, until: datetime) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCall:
    """A call that is claimed at this moment, and its execution."""

    execution: Execution
    ticket: Ticket


def check_running(current: Execution, epoch: int, now: datetime) -> Execution:
    """Return the execution if it runs under a lease of this epoch and nobody cancelled it. Raise `StaleError`."""
    if current.cancel_requested:
        raise StaleError("the execution was cancelled")
    return lease.check_epoch(current, epoch, now)


def check_call(ticket: Ticket | None, *, epoch: int, now: datetime) -> Ticket:
    """Return the ticket of a call that this lease's holder has claimed, and whose time is not up. Raise `StaleError`."""
    if ticket is None or ticket.state is not TicketState.SENT or ticket.epoch != epoch:
        raise StaleError("the call is not under way")
    if ticket.deadline is None or ticket.deadline <= now:
        raise StaleError("the call's deadline has passed: it is another's to send")
    return ticket


class RunningCalls(Protocol):
    """The calls that are under way, as they are stored: read alone.

    `get` raises `StaleError` unless the execution runs under this epoch and the call is claimed. `find_execution` raises it
    unless the execution runs under this epoch.
    """

    async def get(self, execution: str, seq: int, *, epoch: int, now: datetime) -> RunningCall: ...
    async def find_execution(self, execution: str, *, epoch: int, now: datetime) -> Execution: ...


class Platform(Protocol):
    """The platform's own server, asked for a user in a workspace."""

    async def ask(
        self, method: str, params: Mapping[str, Any], *, user: str, workspace: str, within_s: float = 60.0
    ) -> Mapping[str, Any]:
        """Return the result of one MCP request, which may take `within_s` seconds. Raise `UnavailableError` or
        `RejectedError`."""


class ToolDiscovery(Protocol):
    """Which tools the platform's own server has at this moment."""

    async def list_tools(self, execution: Execution) -> Mapping[str, Mapping[str, Any]]:
        """Return the definitions of the tools by name, in the Messages API's form. Raise `UnavailableError` or
        `RejectedError`."""
