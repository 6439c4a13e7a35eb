"""The port of new ids."""

from __future__ import annotations

from typing import Protocol


class Ids(Protocol):
    """New ids: URL-safe, at most 40 characters, not guessable."""

    def new(self, prefix: str) -> str: ...
