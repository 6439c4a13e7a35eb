"""The hold: who runs a stack on a folder holds a lock there, which the system takes back however the process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferryman.stack.private import make_private_folder

LOCK = "stack.lock"


class StackRunningError(RuntimeError):
    """A stack already runs on the folder."""


@contextmanager
def lock_folder(data: Path) -> Iterator[None]:
    """Hold `data` while inside. Raise `StackRunningError`, and `ExposedFolderError` for a folder that other users may enter."""
    file = os.open(make_private_folder(data) / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise StackRunningError(f"a stack already runs on {data}") from error
    finally:
        os.close(file)
