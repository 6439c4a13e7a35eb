"""`ferryman run` and `ferryman watch`: an execution, watched to its end."""

from __future__ import annotations

import asyncio

import click

from ferryman.cli import exits, live
from ferryman.cli.asking import Asking, asking


@click.command()
@click.argument("task")
@click.option("--input", "text", help="What this run is about; it is added to the task's prompt.")
@click.option("--detach", is_flag=True, help="Start it and do not wait.")
@asking
async def run(asked: Asking, task: str, text: str | None, detach: bool) -> int:
    """Run TASK and watch it: every turn, every call, what came of it, and the answer.

    A broken line is taken up where it stopped. Ctrl-C ends the watching, not the execution. With --json, each event and at
    last the execution's record are a line each.
    """
    started = await asked.client.start(task, text)
    execution = str(started["execution_id"])
    if detach:
        asked.screen.record(started)
        asked.screen.say(execution)
        return exits.DONE
    return await _watched(asked, execution)


@click.command()
@click.argument("execution")
@asking
async def watch(asked: Asking, execution: str) -> int:
    """Watch EXECUTION, from its start to its end, as `ferryman run` shows it; also one that has ended."""
    return await _watched(asked, execution)


async def _watched(asked: Asking, execution: str) -> int:
    client, screen = asked.client, asked.screen
    try:
        async for event in client.events(execution):
            live.tell(screen, event)
    except asyncio.CancelledError:
        screen.wrong(f"not watching any more; it goes on. ferryman show {execution} · ferryman cancel {execution}")
        return exits.INTERRUPTED
    record = await client.execution(execution)
    screen.record(record)
    live.answer(screen, record)
    return exits.of_execution(record["status"])
