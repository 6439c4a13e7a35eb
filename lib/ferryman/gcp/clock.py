"""The system's clock and random ids."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


class SystemClock:
    """`ports.Clock`."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIds:
    """`ports.Ids`: 120 random bits after the prefix."""

    def new(self, prefix: str) -> str:
        return f"{prefix}_{secrets.token_hex(15)}"
