"""Private files: what a stack keeps is made for its owner alone, and what another user could have written is not believed.

Who runs a stack on a folder holds a lock there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCK = "stack.lock"
"""The lock of who runs a stack on a folder; the system takes it back however the process ends."""


class ExposedFolderError(OSError):
    """The folder of a stack lets other users of the machine in; the text says what to do."""


PROCESS = "process.json"
"""Which process that is."""


def is_private(folder: Path) -> bool:
    """Return whether a folder is ours and closed to others; raise OSError where there is none."""
    status = folder.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


def make_private_folder(folder: Path) -> Path:
    """Make sure that the folder is there; raise `ExposedFolderError` for one that is open to other users."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_private(folder):
        raise ExposedFolderError(
            f"{folder} would hold keys and is open to other users of this machine: "
            f"close it with `chmod 700 {folder}` if it is yours, or name another with --data"
        )
    return folder


def create_file(path: Path) -> IO[bytes]:
    """Open a new file in place of an old one, readable by its owner alone from its first byte on."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def write_file(path: Path, text: str) -> None:
    """Write such a file."""
    with create_file(path) as out:
        out.write(text.encode())


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
