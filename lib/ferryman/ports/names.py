"""The port of name resolution (DNS)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.http.address import Address


class NameResolver(Protocol):
    """Name resolution, for `owner`. Returns every address of `host`, or raises OSError."""

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]: ...
