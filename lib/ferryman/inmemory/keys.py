"""Keys in memory, by version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ferryman.ports.errors import UnavailableError


@dataclass(slots=True)
class MemoryKeys:
    """`ports.PrivateKeys`; while `away`, it does not answer."""

    privates: Mapping[int, bytes] = field(repr=False)
    away: bool = False

    async def private(self, version: int) -> bytes:
        if self.away:
            raise UnavailableError("the keys are away")
        return self.privates[version]
