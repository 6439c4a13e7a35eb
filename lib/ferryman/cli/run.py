"""`ferryman run` and `ferryman watch`: an execution, watched to its end."""

from __future__ import annotations

import asyncio

import click

from ferryman.cli import exits, live
from ferryman.cli.commands import ApiSession, api_command


@click.command()
@click.argument("task")
@click.option("--input", "text", help="What this run is about; it is added to the task's prompt.")
@click.option("--detach", is_flag=True, help="Start it and do not wait.")
@api_command
async def run(session: ApiSession, task: str, text: str | None, detach: bool) -> int:
    """Run TASK and watch it: every turn, every call, what came of it, and the answer.

    A broken line is taken up where it stopped. Ctrl-C ends the watching, not the execution. With --json, each event and at
    last the execution's record are a line each.
    """
    started = await session.client.start_execution(task, text)
    execution = str(started["execution_id"])
    if detach:
        session.screen.print_result(started, execution)
        return exits.DONE
    return await _watch(session, execution)


@click.command()
@click.argument("execution")
@api_command
async def watch(session: ApiSession, execution: str) -> int:
    """Watch EXECUTION, from its start to its end, as `ferryman run` shows it; also one that has ended."""
    return await _watch(session, execution)


async def _watch(session: ApiSession, execution: str) -> int:
    client, screen = session.client, session.screen
    try:
        async for event in client.stream_events(execution):
            live.print_event(screen, event)
    except asyncio.CancelledError:
        screen.print_error(f"not watching any more; it goes on. ferryman show {execution} · ferryman cancel {execution}")
        return exits.INTERRUPTED
    record = await client.get_execution(execution)
    screen.print_json(record)
    live.print_answer(screen, record)
    return exits.choose_for_execution(record["status"])
