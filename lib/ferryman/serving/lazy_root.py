"""The root of a function: what its composition builds, in a thread, while the event loop answers who needs none of it."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from ferryman.settings import Settings

Root = TypeVar("Root")
"""What a composition root builds: the dependencies of one function."""

BEGINS_AFTER_S = 0.1
"""How long an instance that has just started waits for a request before it builds unasked: who asks for its health by then,
as a platform does first of all, does not wait for imports that share the interpreter with the answer."""

YOUNG_MAX = 5_000
"""New objects after which Python looks for garbage among them. Calls under way hold some hundreds each: of Python's own 700,
nearly all are still in use, and to look at them again and again takes 4 % of a call's processor time."""

# httpx imports what its command line prints with, where that is installed: a third of all that a tool function would import.
# None is Python's own word for a module that is not to be found, and httpx then does without it.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # the type has no place for it

_importing = threading.Lock()
_importers = 0


class LazyRoot(Generic[Root]):
    """What one function is made of, built once: what they import takes many times as long as an answer without them."""

    def __init__(self, build: Callable[[Settings], Root], known: Settings) -> None:
        self._build, self._known = build, known
        self._built: list[Root] = []
        self._building: asyncio.Task[Root] | None = None

    def begin_soon(self) -> None:
        """Build unasked `BEGINS_AFTER_S` from now; called on the event loop of an instance that starts."""
        asyncio.get_running_loop().call_later(BEGINS_AFTER_S, self.begin)

    def begin(self) -> asyncio.Task[Root]:
        """Build, unless that is under way or done; return the task that does."""
        if self._building is None or (self._building.done() and not self._built):
            self._building = asyncio.create_task(self._run())
            # what fails while nobody waits fails again, and is told, at the first request
            self._building.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._building

    async def get(self) -> Root:
        """Return them. Raise what building them does; the next request then tries again."""
        return self._built[0] if self._built else await asyncio.shield(self.begin())

    async def _run(self) -> Root:
        root = await asyncio.to_thread(self._import_and_build)
        self._built.append(root)
        return root

    def _import_and_build(self) -> Root:
        gc.set_threshold(YOUNG_MAX, *gc.get_threshold()[1:])
        with import_quickly():
            return self._build(self._known)


@contextmanager
def import_quickly() -> Iterator[None]:
    """Import without looking for garbage, which takes a fifth of the time: imports leave next to none, and what they leave is
    not looked at again (`gc.freeze`), however often a collection follows. Threads may be inside at once."""
    global _importers
    with _importing:
        _importers += 1
        gc.disable()
    try:
        yield
    finally:
        with _importing:
            _importers -= 1
            if not _importers:
                gc.freeze()
                gc.enable()


def import_ahead(load: Callable[[], None]) -> None:
    """Have `load` import in a thread while the event loop waits for others; who needs it waits for the rest of it alone."""

    def run() -> None:
        with import_quickly():
            load()

    threading.Thread(target=run, name="imports", daemon=True).start()
