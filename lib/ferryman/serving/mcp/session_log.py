"""The port of an application that keeps something of sessions of 2025: which were ended, and what may be sent again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from ferryman.serving.mcp.exchange import Message


class SessionLog(Protocol):
    """What an application keeps of sessions of 2025."""

    async def end(self, session: str) -> None:
        """End a session for good."""

    async def has_ended(self, session: str) -> bool:
        """Say whether it was ended."""

    async def record(self, session: str, request: str | int, message: Message | None) -> str:
        """Store an event of the answer to `request`, and return its name: visible ASCII."""

    def follow(self, session: str, event: str) -> AsyncGenerator[tuple[str, Message], None] | None:
        """Return the events after `event` in its stream, up to the response; None where there is no such event."""
