"""`ferryman logs`: what the functions of the local stack have logged, in the order of time."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from ferryman.cli import exits
from ferryman.cli.commands import prints_lines, screen_command
from ferryman.cli.screen import Screen
from ferryman.cli.stack import data_option, find_folder
from ferryman.stack.logs import LogLine, find_logs, read_lines

POLL_S = 0.2
HIDDEN = ("time", "severity", "message")
TRACE = "logging.googleapis.com/"
STYLES = {"WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}


@click.command()
@click.argument("function", required=False)
@click.option("--follow", is_flag=True, help="Go on with what is logged from now on, until Ctrl-C.")
@click.option("--execution", metavar="ID", help="Only the lines of this execution.")
@data_option
@screen_command
@prints_lines
async def logs(screen: Screen, /, function: str | None, follow: bool, execution: str | None, data: Path | None) -> int:
    """Print what FUNCTION has logged, or all functions in the order of time.

    The files stay when the stack has ended. A line names calls, counts and reasons, and never a value that may hold a key.
    """
    folder = find_folder(data) / "logs"
    files = find_logs(folder, function)
    if not files:
        known = ", ".join(file.function for file in find_logs(folder))
        screen.print_error(
            f"{function} has logged nothing; those that have: {known}" if known else f"there are no logs in {folder}"
        )
        return exits.FAILED
    while True:
        for line in read_lines(files):
            if execution is None or (line.fields or {}).get("execution") == execution:
                print_line(screen, line)
        if not follow:
            return exits.DONE
        try:
            await asyncio.sleep(POLL_S)
        except asyncio.CancelledError:
            return exits.INTERRUPTED


def print_line(screen: Screen, line: LogLine) -> None:
    """Print one line: a document for programs, with its function; for people its time, its function and what it says."""
    if line.fields is None:
        screen.print_json({"function": line.function, "text": line.text})
        screen.print_line(f"{line.time[11:23]:<12}  {line.function:<12}  {line.text}", "dim")
        return
    screen.print_json({"function": line.function, **line.fields})
    details = " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in line.fields.items()
        if name not in HIDDEN and not name.startswith(TRACE) and value is not None
    )
    text = f"{line.time[11:23]:<12}  {line.function:<12}  {line.fields.get('message', '')}  {details}"
    screen.print_line(text, STYLES.get(str(line.fields.get("severity")), ""))
