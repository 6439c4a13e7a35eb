"""The hold: who runs a stack on a folder holds a lock there, which the system takes back however the process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "stack.lock"


class Held(RuntimeError):  # noqa: N818 - reads as the fact it states
    """A stack already runs on the folder."""


@contextmanager
def hold(data: Path) -> Iterator[None]:
    """Hold `data` while inside, or raise `Held`."""
    file = os.open(data / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise Held(f"a stack already runs on {data}") from error
    finally:
        os.close(file)
