"""The port of a language model."""

from __future__ import annotations

from typing import Protocol

from ferryman.domain.executions.message import Prompt, Reply


class Model(Protocol):
    """A language model. Raises `UnavailableError` (try again later) or `RejectedError` (for good)."""

    async def reply(self, prompt: Prompt) -> Reply: ...
