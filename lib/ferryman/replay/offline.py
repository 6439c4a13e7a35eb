"""Offline: while it holds, this process opens no socket and resolves no name; whatever tries to gets an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OfflineError(RuntimeError):
    """Something reached for the network where nothing may."""


class _Guard:
    """Counts who holds the process offline. An audit hook sees every socket, also those that C code makes."""

    def __init__(self) -> None:
        self.holders = 0
        sys.addaudithook(self._look)

    def _look(self, event: str, _: tuple[Any, ...]) -> None:
        if self.holders and event.startswith("socket."):
            raise OfflineError(f"{event} while the process is held offline")


_GUARD = _Guard()


@contextmanager
def block_network() -> Iterator[None]:
    """Hold the process offline. The event loop, which has a pair of sockets of its own, must be there already."""
    _GUARD.holders += 1
    try:
        yield
    finally:
        _GUARD.holders -= 1
