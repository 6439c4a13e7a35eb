"""`ferryman show` and `ferryman cancel`: executions afterwards, and on their way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ferryman.cli import audit as audits
from ferryman.cli import live
from ferryman.cli.asking import Asking, asking

LISTED = ("execution", "status", "created", "turns", "calls", "credits")
APART = ("output", "error", "tool_calls", "usage")


@click.command()
@click.argument("execution", required=False)
@click.option("--calls", is_flag=True, help="Every call with its arguments and its whole result.")
@click.option("--audit", is_flag=True, help="The full account: turns, calls, times, refusals, slices, credits, ledger.")
@click.option("--task", help="Without EXECUTION: only this task's.")
@asking
async def show(asked: Asking, execution: str | None, calls: bool, audit: bool, task: str | None) -> None:
    """Show EXECUTION: how it stands, what it called, what it said. Without one, list the latest."""
    client, screen = asked.client, asked.screen
    if (calls or audit) and execution is None:
        raise click.UsageError("--calls and --audit need an EXECUTION")
    if execution is None:
        found = await client.executions(task=task)
        screen.record(found)
        if found:
            screen.lines([row(each) for each in found], *LISTED)
        else:
            screen.say("There are no executions yet; ferryman run TASK starts one.", "dim")
        return
    if audit:
        whole = await client.record(execution)
        screen.record(whole)
        audits.account(screen, whole)
        return
    record = await client.execution(execution)
    if not calls:
        screen.record(record)
        screen.fields({name: value for name, value in record.items() if name not in APART})
        if record["tool_calls"]:
            screen.say()
            live.audit(screen, record["tool_calls"])
        live.answer(screen, record)
        return
    made = await client.calls(execution)
    screen.record(made)
    for call in made:
        screen.say(f"#{call['seq'] + 1} {call['tool']} (turn {call['iteration']}, {call['state']})", "bold")
        screen.fields({"arguments": call["arguments"], **(call["result"] or {})})
        screen.say()


def row(record: Mapping[str, Any]) -> dict[str, Any]:
    """An execution on one line: at 80 columns the terminal breaks it before the last cell, and inside none."""
    return {
        "execution": record["execution_id"],
        "status": record["status"],
        "created": str(record["created_at"])[:16].replace("T", " "),
        "turns": record["iterations"],
        "calls": record["tool_calls_total"],
        "credits": live.amount_of(record["credits_used"]),
    }


@click.command()
@click.argument("execution")
@asking
async def cancel(asked: Asking, execution: str) -> None:
    """Cancel EXECUTION: nothing more is sent; a call that is under way still ends."""
    record = await asked.client.cancel(execution)
    asked.screen.record(record)
    ended = record["status"] not in ("queued", "running")
    asked.screen.say(f"{execution} is {record['status']}" if ended else f"{execution} will stop before its next call")
