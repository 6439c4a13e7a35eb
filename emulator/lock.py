"""The lock: one local cloud on one data folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class InUseError(Exception):
    """Another local cloud has the folder."""


class Lock:
    """Held from the start to the end of a run; the system lets go of it however the process ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None

    def take(self) -> None:
        """Take the lock, or raise InUseError."""
        file = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(file, 20).decode(errors="replace").strip() or "unknown"
            os.close(file)
            raise InUseError(
                f"{self._folder} is in use by another local cloud (process {owner}). "
                "End that one, or start this one on another folder."
            ) from error
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
        self._file = file

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
