"""`ferryman status` and `ferryman down`: the local stack, looked at and ended from another terminal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import click

from ferryman.cli import exits, service
from ferryman.cli.commands import screen_command
from ferryman.cli.screen import Screen
from ferryman.stack import leftovers
from ferryman.stack.admin import read_functions
from ferryman.stack.private import ExposedFolderError, StackRunningError, lock_folder
from ferryman.stack.stack_process import StackProcess, find_process

RUNNING = "running"
ENDS_S = 40.0
"""How long a stack has to end in order: longer than it gives its local cloud."""

GONE_S = 5.0
POLL_S = 0.05

data_option: Callable[..., Callable[..., None]] = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="The stack's folder. [default: FERRYMAN_DATA, or the nearest .ferryman]",
)


@click.command()
@data_option
@screen_command
async def status(screen: Screen, /, data: Path | None) -> int:
    """Show whether the local stack runs, where it answers, and each of its functions.

    Exit code 0 where all of it runs, 1 where it does not, or not yet.
    """
    data = find_folder(data)
    process, note = find_process(data), leftovers.read_note(data)
    if process is None:
        screen.print_error(
            f"no stack runs on {data}" + (", the last one was killed" if note else "") + "; start one: ferryman up"
        )
        return exits.FAILED
    if note is None or note["pid"] != process.pid:
        screen.print_error(f"the stack on {data} is just starting, or ending (process {process.pid})")
        return exits.FAILED
    functions = await read_functions(note)
    if functions is None:
        screen.print_error(f"the local cloud of the stack on {data} does not answer (process {process.pid})")
        return exits.FAILED
    rows = [{name: function[name] for name in ("name", "state", "pid", "url")} for function in functions]
    known = {"url": note["url"], "data": str(data), "key_file": note["key_file"], "pid": process.pid, "admin": note["admin"]}
    screen.print_json({**known, "functions": rows})
    screen.print_fields(known)
    screen.print_line()
    screen.print_table(rows, "name", "state", "pid", "url", empty="It has no functions.")
    return exits.DONE if all(row["state"] == RUNNING for row in rows) else exits.FAILED


@click.command()
@data_option
@screen_command
async def down(screen: Screen, /, data: Path | None) -> int:
    """End the local stack: all that `ferryman up` started there, and nothing else. Its data is kept.

    It may run in another terminal or in the background. What a stack that was killed left behind is ended, too.
    """
    data = find_folder(data)
    process = find_process(data)
    text = f"no stack runs on {data}" if process is None else f"the stack on {data} has ended (process {process.pid})"
    try:
        with screen.show_progress(f"ending the stack on {data}"):
            if process is not None:
                await _end(process)
            if (data / leftovers.NOTE).exists() or (data / leftovers.READY).exists():
                with lock_folder(data):
                    text = await leftovers.recover(data) or text
    except StackRunningError:
        screen.print_error(f"a stack is just starting on {data}; end it once it has started")
        return exits.FAILED
    except ExposedFolderError as error:
        screen.print_error(str(error))
        return exits.FAILED
    screen.print_result({"data": str(data), "ended": None if process is None else process.pid}, text)
    return exits.DONE


def find_folder(data: Path | None) -> Path:
    """Return the folder that was named, or the one of the local stack."""
    return (data or service.find_folder()).resolve()


async def _end(process: StackProcess) -> None:
    """End a stack in order, and by force where that takes too long: its local cloud then ends with it."""
    for number, seconds in ((signal.SIGTERM, ENDS_S), (signal.SIGKILL, GONE_S)):
        if not process.send(number) or await _is_gone_within(process, seconds):
            return


async def _is_gone_within(process: StackProcess, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            while process.is_alive():  # noqa: ASYNC110 - another process's end
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        return False
    return True
