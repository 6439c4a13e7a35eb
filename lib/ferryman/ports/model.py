"""The ports of a language model, and of a key holder that scans its output for credentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block, Prompt, Reply


class Model(Protocol):
    """A language model. Raises `UnavailableError` (try again later) or `RejectedError` (for good).

    Where it is cancelled before anything was sent, it raises `UnreachedError`.
    """

    async def reply(self, prompt: Prompt) -> Reply: ...


class ReplyScanner(Protocol):
    """Has a key holder scan the model's output, and returns the redacted form that may be stored.

    Raises `StaleError`, `UnavailableError`, or `RejectedError` when one of the task's credentials does not open.
    """

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]: ...
