"""The port that authenticates callers."""

from __future__ import annotations

from typing import Protocol


class CallerIdentifier(Protocol):
    """Checks an identity token, and returns the caller's e-mail or raises PermissionError."""

    async def identify(self, authorization: str | None, *, audience: str) -> str: ...
