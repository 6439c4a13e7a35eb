"""`ferryman run`, `watch`, `show` and `cancel`: executions, from their start to their record."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from ferryman.cli import audit as audits
from ferryman.cli import exits, live
from ferryman.cli.commands import ApiSession, api_command, prints_lines
from ferryman.client import PAGE_MAX, AsyncClient
from ferryman.domain.executions.execution import Status

LISTED = ("execution", "status", "created", "turns", "calls", "credits")
APART = ("output", "error", "tool_calls", "usage")


@click.command()
@click.argument("execution", required=False)
@click.option("--calls", is_flag=True, help="Every call with its arguments and its whole result.")
@click.option("--audit", is_flag=True, help="The full account: turns, calls, times, refusals, slices, credits, ledger.")
@click.option("--task", help="Without EXECUTION: only this task's.")
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Without EXECUTION: only those in it.")
@click.option("--since", metavar="MOMENT", help="Without EXECUTION: only those created since 2027-01-31T09:00:00Z, say.")
@click.option("--waiting", is_flag=True, help="Without EXECUTION: only those that wait for a person.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Without EXECUTION: how many, at most.")
@api_command
async def show(session: ApiSession, /, execution: str | None, calls: bool, audit: bool, limit: int, **filters: Any) -> None:
    """Show EXECUTION: its state, its calls, its answer. Without one, list the latest."""
    client, screen = session.client, session.screen
    if (calls or audit) and execution is None:
        raise click.UsageError("--calls and --audit need an EXECUTION")
    if execution is None:
        executions = await _list_latest(client, limit, **filters)
        screen.print_json(executions)
        if executions:
            screen.print_lines([build_row(execution_record) for execution_record in executions], *LISTED)
        else:
            screen.print_line("There are no executions yet; ferryman run TASK starts one.", "dim")
        return
    if audit:
        whole = await client.get_record(execution)
        screen.print_json(whole)
        audits.print_audit(screen, whole)
        return
    record = await client.get_execution(execution)
    if not calls:
        screen.print_json(record)
        screen.print_fields({name: value for name, value in record.items() if name not in APART})
        if record["waiting_for"]:
            live.print_waiting(screen, record["waiting_for"])
        if record["tool_calls"]:
            screen.print_line()
            live.print_rows(screen, record["tool_calls"])
        live.print_answer(screen, record)
        return
    calls_made = [call async for call in client.iterate_calls(execution)]
    screen.print_json(calls_made)
    for call in calls_made:
        screen.print_line(
            f"#{call['seq'] + 1} {live.describe_tool(call['tool'], call)} (turn {call['iteration']}, {call['state']})", "bold"
        )
        screen.print_fields({"arguments": call["arguments"], **(call["result"] or {})})
        screen.print_line()


async def _list_latest(client: AsyncClient, most: int, **filters: Any) -> list[Mapping[str, Any]]:
    executions: list[Mapping[str, Any]] = []
    async for execution in client.iterate_executions(limit=min(most, PAGE_MAX), **filters):
        executions.append(execution)
        if len(executions) == most:
            break
    return executions


def build_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return an execution on one line: at 80 columns the terminal breaks it before the last cell, and inside none."""
    return {
        "execution": record["execution_id"],
        "status": "waiting" if record["waiting_for"] else record["status"],
        "created": str(record["created_at"])[:16].replace("T", " "),
        "turns": record["iterations"],
        "calls": record["tool_calls_total"],
        "credits": live.format_credits(record["credits_used"]),
    }


@click.command()
@click.argument("execution")
@api_command
async def cancel(session: ApiSession, execution: str) -> None:
    """Cancel EXECUTION: nothing more is sent; a call that is under way still ends."""
    record = await session.client.cancel_execution(execution)
    ended = record["status"] not in ("queued", "running")
    text = f"{execution} is {record['status']}" if ended else f"{execution} will stop before its next call"
    session.screen.print_result(record, text)


@click.command()
@click.argument("task")
@click.option("--input", "text", help="What this run is about; it is added to the task's prompt.")
@click.option("--conversation", metavar="ID", help="An id of yours, for all runs of one conversation with the agent.")
@click.option("--label", "labels", multiple=True, metavar="NAME=TEXT", help="A label of yours, repeatable; no model sees it.")
@click.option("--detach", is_flag=True, help="Start it and do not wait.")
@api_command
@prints_lines
async def run(
    session: ApiSession, task: str, text: str | None, conversation: str | None, labels: tuple[str, ...], detach: bool
) -> int:
    """Run TASK and watch it: every turn, every call, what came of it, and the answer.

    A broken line is taken up where it stopped. Ctrl-C ends the watching, not the execution. With --json, each event and at
    last the execution's record are a line each.
    """
    started = await session.client.start_execution(task, text, conversation=conversation, labels=_read_labels(labels))
    execution = str(started["execution_id"])
    if detach:
        session.screen.print_result(started, execution)
        return exits.DONE
    return await _watch(session, execution)


def _read_labels(labels: tuple[str, ...]) -> dict[str, str]:
    """Return labels by name. Raise `BadParameter` for one that is no NAME=TEXT, or of a name that was given before."""
    named: dict[str, str] = {}
    for label in labels:
        name, sign, text = label.partition("=")
        if not sign or name in named:
            message = f"{name} is given twice" if sign else "must be NAME=TEXT"
            raise click.BadParameter(message, param_hint="--label")
        named[name] = text
    return named


@click.command()
@click.argument("execution")
@api_command
@prints_lines
async def watch(session: ApiSession, execution: str) -> int:
    """Watch EXECUTION, from its start to its end, as `ferryman run` shows it; also one that has ended."""
    return await _watch(session, execution)


async def _watch(session: ApiSession, execution: str) -> int:
    client, screen = session.client, session.screen
    try:
        async for event in client.stream_events(execution, progress=not screen.as_json):
            live.print_event(screen, event)
    except asyncio.CancelledError:
        screen.print_error(f"not watching any more; it goes on. ferryman show {execution} · ferryman cancel {execution}")
        return exits.INTERRUPTED
    record = await client.get_execution(execution)
    screen.print_json(record)
    live.print_answer(screen, record)
    return exits.choose_for_execution(record["status"])
