"""The port that checks who calls."""

from __future__ import annotations

from typing import Protocol


class CallerIdentifier(Protocol):
    """Who is calling: checks an identity token and answers the caller's e-mail, or raises PermissionError."""

    async def identify(self, authorization: str | None, *, audience: str) -> str: ...
