"""The lock of a stack: its key, what to say when there is one already, and the signals that end it in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferryman.serving import keys
from ferryman.stack import leftovers, private

KEY = "key"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def load_key(data: Path) -> tuple[Path, str]:
    """Return the file of the API key of the stack on `data`, and the key: made once, readable by its owner alone.

    Raises `OpenFolderError` for a folder that other users may enter.
    """
    file = private.make_private_folder(data) / KEY
    key = file.read_text().strip() if file.exists() else ""
    if keys.parse_key(f"Bearer {key}") is None:
        key = keys.generate_key()
        private.write_file(file, key + "\n")
    return file, key


def describe_conflict(data: Path) -> str:
    """Return the message for when another stack runs on `data`."""
    known = leftovers.read_note(data) or {"pid": "?", "url": "it is just starting"}
    return (
        f"a stack already runs on {data} (process {known['pid']}): {known['url']}. "
        "Use it, end it with Ctrl-C there or `ferryman down`, or start this one on another folder with --data."
    )


@contextmanager
def cancel_on_signal() -> Iterator[None]:
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
