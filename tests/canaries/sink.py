"""The sink: whatever is said in a test process and does not rest in a file is kept here, a file for each kind."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import os
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.canaries.canary import RUN

KINDS = {
    "loggers": "every Python logger of the test processes, at DEBUG",
    "lines": "the traced lines of doubles",
    "output": "standard output and error of the test processes",
    "shell": "output of commands",
    "errors": "texts and tracebacks of exceptions that tests provoked",
    "answers": "what the API and functions answered, live events included",
    "results": "the gate's results, as the model reads them",
    "prompts": "what models were asked",
    "records": "documents and records read out",
    "deliveries": "what Cloud Tasks delivered",
    "travelled": "how often a key arrived where it belongs",
    "passed": "which tests ran",
}
"""The kinds of things kept, by the name of their file."""


API_URL = "http://api.test/"
"""Where tests ask the API in their own process: a URL in which they hold a key themselves is theirs, and their client's log."""


def append(kind: str, *things: object) -> None:
    """Keep what was said, for the search at the run's end; beside a run, nothing happens."""
    assert kind in KINDS
    if folder := os.environ.get(RUN):
        # unbuffered: a reader finds all that was written, also of a process that was killed
        os.write(_open(folder, f"{kind}-{os.getpid()}"), b"".join(write(thing) + b"\n" for thing in things))


@functools.cache
def _open(folder: str, name: str) -> int:
    """Open a file once in a process and leave it open: a test keeps hundreds of lines."""
    return os.open(Path(folder) / "kept" / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def write(thing: object) -> bytes:
    """Convert a value to the bytes that are searched."""
    if isinstance(thing, bytes):
        return thing
    if isinstance(thing, str):
        return thing.encode("utf-8", "surrogatepass")
    try:
        return json.dumps(thing, default=repr, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):  # keys that JSON has not
        return repr(thing).encode("utf-8", "surrogatepass")


class Sink(logging.Handler):
    """Keeps every record, with the traceback that belongs to it and its arguments."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "httpx" and API_URL in str(record.args):
            return
        try:
            append("loggers", f"{record.name} {record.levelname} {record.getMessage()}")
        except Exception:  # noqa: BLE001 - a record that cannot be written would not be written elsewhere either
            append("loggers", f"{record.name} {record.levelname} {record.msg!r}")
        if record.exc_info and record.exc_info[1] is not None:
            fault(record.exc_info[1])


def fault(error: BaseException) -> None:
    """Keep an exception: its text, its causes' and their traceback."""
    append("errors", "".join(traceback.format_exception(error)))


def watch(owner: Any, name: str, texts_of: Callable[..., Iterable[object]], kind: str) -> None:
    """Have `owner.name` keep what `said(result, *arguments)` makes of each call; it does what it did."""
    whole = getattr(owner, name)

    if inspect.iscoroutinefunction(whole):

        @functools.wraps(whole)
        async def waiting(*arguments: Any, **named: Any) -> Any:
            result = await whole(*arguments, **named)
            append(kind, *texts_of(result, *arguments))
            return result

        setattr(owner, name, waiting)
        return

    @functools.wraps(whole)
    def watching(*arguments: Any, **named: Any) -> Any:
        result = whole(*arguments, **named)
        append(kind, *texts_of(result, *arguments))
        return result

    setattr(owner, name, watching)
