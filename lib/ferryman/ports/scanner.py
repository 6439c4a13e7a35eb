"""The port by which a key holder scans what the model said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block


class ReplyScanner(Protocol):
    """Has a key holder look through what the model said, and answers the form that may come to rest.

    Raises `StaleError`, `UnavailableError`, or `RejectedError` when one of the task's credentials does not open.
    """

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]: ...
