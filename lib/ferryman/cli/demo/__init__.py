"""`ferryman demo`: one task runs end to end in a stack of its own, is attacked on the way, and is searched for leaks."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import click

from ferryman.cli import exits, stack_lock
from ferryman.cli.commands import screen_command
from ferryman.cli.demo.scenario import run_scenario
from ferryman.cli.screen import Screen
from ferryman.cli.service import read_environment
from ferryman.client import AsyncClient
from ferryman.serving import keys
from ferryman.stack import leftovers
from ferryman.stack.local_stack import STEPS, StackOptions, run_stack
from ferryman.stack.private import StackRunningError, lock_folder

PREFIX = "ferryman-demo-"
MODEL_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


@click.command()
@screen_command
async def demo(screen: Screen) -> int:
    """Watch one task run end to end on a local cloud: no account, no key, nothing left behind.

    Simulated services, a task with a sealed credential, a scripted model that attacks three times, the audit table, and the
    proof that the canary key was in no place but the one header it was meant for. Exit code 0 only if all of it held;
    with --json, one line at the end says what held and what did not.
    """
    began = time.monotonic()
    await _sweep(screen)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()  # noqa: ASYNC240 - before anything else runs
    try:
        with stack_lock.cancel_on_signal():
            key_file, key = stack_lock.load_key(folder)
            # the demo's model is scripted: it has no use for anybody's key
            environment = {name: value for name, value in read_environment().items() if name not in MODEL_KEYS}
            options = StackOptions(data=folder, digest=keys.digest_key(key), key_file=key_file, environment=environment)
            screen.print_line("A stack of its own", "bold")
            async with AsyncExitStack() as running_stack:
                with screen.show_progress("starting the stack", STEPS):
                    running = await running_stack.enter_async_context(
                        run_stack(options, lambda text: screen.print_step(f"  {text}"))
                    )
                screen.print_line(f"  up after {time.monotonic() - began:.1f} s: {running.url}")
                async with AsyncClient(running.url, key, workspace="") as client:
                    is_proven = await run_scenario(screen, running, client)
    except asyncio.CancelledError:
        screen.print_error("interrupted; everything it started has ended")
        return exits.INTERRUPTED
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    verdict, style = ("Everything held", "bold green") if is_proven else ("NOT everything held", "bold red")
    screen.print_line(f"\n{verdict} ({time.monotonic() - began:.0f} s, everything it started has ended).", style)
    return exits.DONE if is_proven else exits.FAILED


async def _sweep(screen: Screen) -> None:
    """End and remove what demos that were killed left behind; one that is running is left alone."""
    for folder in Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*"):  # noqa: ASYNC240 - likewise
        try:
            with lock_folder(folder):
                await leftovers.recover(folder)
                shutil.rmtree(folder, ignore_errors=True)
            screen.print_line(f"A demo that was killed had left {folder}; it is cleared away.", "yellow")
        except (StackRunningError, OSError):
            continue
