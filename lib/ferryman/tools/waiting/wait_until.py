"""The tool `wait_until`: the execution goes on at a moment; until then it holds no process, no lease and no running slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.refusal import ERROR, INVALID_ARGUMENTS, Refusal
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.executions.waiting import measure_waited
from ferryman.ports.clock import Clock
from ferryman.tools.own_arguments import read_own_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitCalls:
    """Executes the calls. `execution_timeout` is how long an execution may take in all."""

    clock: Clock
    execution_timeout: timedelta

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket | Postponement:
        """Return the postponement until the moment, or the ticket with its result where that has come or cannot be waited for.

        A delivery that comes again finds the same moment: seconds count from when the model asked.
        """
        now, begun = self.clock.now(), execution.started_at or execution.created_at
        ends = begun + measure_waited(execution, now) + self.execution_timeout
        try:
            arguments = read_own_arguments(find_tool(ticket.tool).policy, ticket.display_arguments)
            until = read_moment(arguments, base=ticket.created_at)
        except ValueError as error:
            return _refuse(ticket, str(error))
        if until >= ends:
            return _refuse(ticket, f"this execution ends at {_write(ends)}: it cannot wait until {_write(until)}")
        if until > now:
            return Postponement(reason=f"it waits until {_write(until)}", after=until - now)
        # of no other time: a replay has to say the same
        return replace(ticket, result=ToolCallResult(tool=ticket.tool, content=f"{_write(until)} has come."))


def read_moment(arguments: Mapping[str, Any], *, base: datetime) -> datetime:
    """Return the moment that the arguments name; seconds count from `base`. Raise ValueError that names the argument."""
    if len(arguments.keys() & {"time", "seconds"}) != 1 or len(arguments) != 1:
        raise ValueError("exactly one of time and seconds is needed")
    if "time" in arguments:
        return _read_time(arguments["time"])
    seconds = arguments["seconds"]
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise ValueError("seconds: a number that is not negative is needed")
    try:
        return base + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError("seconds: that is longer than any execution") from None


def _read_time(text: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise ValueError("time: a date and time of ISO 8601 is needed, such as 2026-12-24T18:00:00+01:00") from None
    if moment.tzinfo is None:
        raise ValueError("time: an offset is needed, such as Z or +01:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("time: that is before or after all time") from None


def _write(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _refuse(ticket: Ticket, why: str) -> Ticket:
    reason = Refusal(reason=INVALID_ARGUMENTS, message=f"{ERROR}{why}", blocked=False)
    return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, reason))
