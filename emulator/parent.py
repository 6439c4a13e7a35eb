"""The parent: a local cloud that is started for another process ends when that one does, however it ended."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress

ENDS_S = 1.0
"""How long the services have to close their files in order; afterwards the process ends, and the guard kills what is left."""

READ_BYTES = 4096


class ParentWatch:
    """Standard input as a lifeline: nobody writes to it, and it ends with the process that it is a pipe from."""

    def __init__(self) -> None:
        self.on_end: Callable[[], object] = lambda: None
        """What begins the end, in a thread of its own."""

    def start(self) -> None:
        """Watch from now on. A thread, since an event loop may be busy or not yet there."""
        threading.Thread(target=self._watch, name="parent", daemon=True).start()

    def _watch(self) -> None:
        with suppress(OSError):
            while os.read(0, READ_BYTES):
                pass
        with suppress(RuntimeError):  # the event loop has just closed
            self.on_end()
        threading.Event().wait(ENDS_S)
        os._exit(1)
