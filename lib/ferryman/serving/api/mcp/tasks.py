"""The Tasks extension: an execution is a task, no matter who started it and what dies; its id is the execution's.

What waits for a person is `input_required` with a link. An update is acknowledged and decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.ids import is_id
from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.authorization import check_execution
from ferryman.serving.api.cancelling import cancel
from ferryman.serving.api.mcp.approvals import build_requests
from ferryman.serving.api.mcp.caller import McpCaller, check_may_run, get_caller, hold_turn
from ferryman.serving.api.mcp.outcome import build_link, build_outcome
from ferryman.serving.api.mcp.waiting import waits_for_person
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.mcp.errors import McpError, refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.results import Complete, Notification, Result

POLL_MS = 1_000
POLL_WAITING_MS = 5_000
"""How often it is worth asking, in milliseconds, while something runs and while a person is waited for."""

CANCELLED = (Status.KILLED,)


async def get_task(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer tasks/get. Raise `McpError` with -32602 for a task that is not there, or not in the caller's workspace."""
    async with hold_turn(deps, get_caller(exchange).caller):
        execution = await find_task(deps, exchange)
        return Complete(await describe_in_detail(deps, exchange, execution))


async def update_task(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer tasks/update: acknowledge it. Nothing that a client answers decides about a call, and nothing is read of it."""
    exchange.get_object("inputResponses")
    async with hold_turn(deps, get_caller(exchange).caller):
        await find_task(deps, exchange)
    return Complete()


async def cancel_task(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer tasks/cancel: nothing more of it is sent. Raise 403 without the right to run, and for the execution of
    another tool than those that the API key is narrowed to."""
    caller = get_caller(exchange).caller
    async with hold_turn(deps, caller):
        execution = await find_task(deps, exchange)
        check_may_run(deps, caller)
        check_execution(deps, caller, execution)
        if not execution.status.terminal:
            await cancel(deps, caller, execution.id)
    return Complete()


async def find_task(deps: ApiDependencies, exchange: McpExchange) -> Execution:
    """Return the execution that a request names. Raise `McpError` with -32602, the same for what belongs to others."""
    name = exchange.get_text("taskId")
    visible = await select_tasks(deps, get_caller(exchange), [name])
    if not visible:
        raise refuse_unknown()
    return visible[0]


def refuse_unknown() -> McpError:
    """Return the error for a task that the caller cannot see, whatever the reason."""
    return refuse_params("there is no such task")


async def select_tasks(deps: ApiDependencies, caller: McpCaller, names: Sequence[str]) -> list[Execution]:
    """Return the executions of these ids that the caller sees."""
    read = [await deps.executions.get(name) for name in names if is_id(name)]
    return [execution for execution in read if execution is not None and caller.caller.sees(execution)]


async def describe_task(deps: ApiDependencies, exchange: McpExchange, execution: Execution) -> dict[str, Any]:
    """Return the `Task` of an execution, without its result."""
    now = deps.clock.now()
    is_waiting = await waits_for_person(deps, execution)
    status, message = _read_status(exchange, execution, is_waiting=is_waiting)
    described = {
        "taskId": execution.id,
        "status": status,
        "createdAt": _write_time(execution.created_at),
        "lastUpdatedAt": _write_time(_find_change(execution)),
        "ttlMs": _compute_ttl_ms(deps, execution, now),
        "pollIntervalMs": POLL_WAITING_MS if is_waiting else POLL_MS,
    }
    return described if message is None else {**described, "statusMessage": message}


async def describe_in_detail(deps: ApiDependencies, exchange: McpExchange, execution: Execution) -> dict[str, Any]:
    """Return the `DetailedTask` of an execution: with its result, or with what it waits for."""
    described = await describe_task(deps, exchange, execution)
    url = get_caller(exchange).url
    if described["status"] == "completed":
        return {**described, "result": {**await build_outcome(deps, execution, url=url), "resultType": "complete"}}
    if described["status"] == "input_required":
        return {**described, "inputRequests": build_requests(execution, url)}
    return described


def _read_status(exchange: McpExchange, execution: Execution, *, is_waiting: bool) -> tuple[str, str | None]:
    """Return the status of a task, and what is told about it. A call that failed has a result, and so has completed."""
    if execution.status in CANCELLED:
        return "cancelled", execution.error
    if execution.status.terminal:
        return "completed", execution.error
    if is_waiting:
        message = f"A person has to decide about a call, at {build_link(get_caller(exchange).url, execution.waiting_for)}"
        # a client that opens no pages is not asked to: it reads where a person does
        return ("input_required" if exchange.declares("elicitation", "url") else "working"), message
    return "working", "it has not started yet" if execution.status is Status.QUEUED else f"turn {execution.iterations + 1}"


def _find_change(execution: Execution) -> datetime:
    return execution.completed_at or execution.waiting_since or execution.started_at or execution.created_at


def _compute_ttl_ms(deps: ApiDependencies, execution: Execution, now: datetime) -> int | None:
    """Return for how many milliseconds from its creation on it is kept: retention begins with its end."""
    days = deps.retention_days if execution.retention_days is None else execution.retention_days
    if not days:
        return None
    ended = execution.completed_at or now
    return int((ended + timedelta(days=days) - execution.created_at) / timedelta(milliseconds=1))


def _write_time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


async def watch_tasks(
    deps: ApiDependencies, exchange: McpExchange, executions: Sequence[Execution]
) -> AsyncGenerator[Notification, None]:
    """Yield notifications/tasks of these executions whenever what tasks/get says of one has changed, until all have ended.

    It ends, too, once the API key may not read any longer.
    """
    caller, changes = get_caller(exchange).caller, asyncio.Queue[Execution | None](len(executions) + 1)
    watching = [asyncio.ensure_future(_watch(deps, execution, changes)) for execution in executions]
    known: dict[str, dict[str, Any]] = {}
    try:
        ended = 0
        while ended < len(watching):
            execution = await changes.get()
            if execution is None:
                ended += 1
                continue
            described = await describe_in_detail(deps, exchange, execution)
            if _drop_ttl(described) == known.get(execution.id):
                continue
            if not await still_has_right(deps, caller, Right.READ):
                return
            known[execution.id] = _drop_ttl(described)
            yield Notification("notifications/tasks", described)
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def _watch(deps: ApiDependencies, execution: Execution, changes: asyncio.Queue[Execution | None]) -> None:
    with suppress(Exception):  # what cannot be read any more has ended, for the client
        async with aclosing(deps.hub.watch(execution)) as snapshots:  # type: ignore[type-var] # a generator, as all of them are
            async for snapshot in snapshots:
                await changes.put(snapshot.execution)
    await changes.put(None)  # not once it is cancelled: nobody takes anything out then


def _drop_ttl(described: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name != "ttlMs"}
