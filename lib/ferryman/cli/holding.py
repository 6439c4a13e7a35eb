"""Holding a stack: its key, what to say when there is one already, and the signals that end it in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferryman.serving import keys
from ferryman.wiring.local import leftovers

KEY = "key"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def key_of(data: Path) -> tuple[Path, str]:
    """The file of the API key of the stack on `data`, and the key: made once, readable by its owner alone."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = data / KEY
    kept = file.read_text().strip() if file.exists() else ""
    if keys.key_of(f"Bearer {kept}") is None:
        kept = keys.new_key()
        file.unlink(missing_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(kept + "\n")
    return file, kept


def busy(data: Path) -> str:
    """What to say when another stack runs on `data`."""
    known = leftovers.note(data) or {"pid": "?", "url": "it is just starting"}
    return (
        f"a stack already runs on {data} (process {known['pid']}): {known['url']}. "
        "Use it, end it with Ctrl-C there, or start this one on another folder with --data."
    )


@contextmanager
def until_signal() -> Iterator[None]:
    """Turn the first Ctrl-C, SIGTERM or SIGHUP into a cancellation of the task inside, so that everything is ended in order."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None, "runs inside a task"
    for number in SIGNALS:
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
