"""The ports of a language model, and of a key holder that scans its output for credentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block, Prompt, Reply, ReplyDelta
from ferryman.domain.executions.usage import Usage
from ferryman.ports.live import WindowScanner


class ReplyWatcher(Protocol):
    """Takes what the model writes as it writes it: nothing of it was scanned. It neither waits nor raises."""

    def add(self, delta: ReplyDelta) -> None: ...

    def break_off(self, usage: Usage, characters: int) -> None:
        """Take how much there is of a reply that the caller breaks off: the tokens that the provider has counted so far, and
        the characters that have come."""


class Model(Protocol):
    """A language model. Raises `UnavailableError` (try again later) or `RejectedError` (for good).

    Where it is cancelled before anything was sent, it raises `UnreachedError`. A `watcher` is given the texts and calls of the
    reply that is returned, or of one that broke off, as they come.
    """

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply: ...


class ReplyScanner(WindowScanner, Protocol):
    """Has a key holder scan the model's output, and returns the redacted form that may be stored.

    Raises `StaleError`, `UnavailableError`, or `RejectedError` when one of the task's credentials does not open.
    """

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]: ...
