"""A key's versions, what is sealed to them and what is published, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ferryman.domain.call import TicketState
from ferryman.domain.keys import Held, KeyVersion
from ferryman.local.memory import Memory
from ferryman.ports import Unavailable

MADE = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class MemoryRing:
    """The versions of a key, of which only those not `disabled` can be read: `ports.Keys` too."""

    privates: dict[int, bytes] = field(default_factory=dict, repr=False)
    disabled: set[int] = field(default_factory=set)

    async def versions(self) -> Sequence[KeyVersion]:
        return [KeyVersion(number=each, enabled=each not in self.disabled, created_at=MADE) for each in self.privates]

    async def private(self, version: int) -> bytes:
        if version in self.disabled:
            raise Unavailable(f"version {version} of the key is disabled")
        return self.privates[version]

    async def add(self, private: bytes) -> int:
        number = max(self.privates, default=0) + 1
        self.privates[number] = private
        return number

    async def enable(self, version: int) -> None:
        self.disabled.discard(version)

    async def disable(self, version: int) -> None:
        self.disabled.add(version)


class MemoryHoldings:
    """What in `memory` is sealed, and to which version."""

    def __init__(self, memory: Memory, version_of: Callable[[bytes], int]) -> None:
        self._memory = memory
        self._version_of = version_of

    async def credentials(self) -> Sequence[Held]:
        return [
            Held(task=task, name=sealed.label.name, version=sealed.key_version)
            for task, stored in self._memory.credentials.items()
            for sealed in stored.values()
        ]

    async def calls(self) -> Mapping[int, int]:
        return Counter(
            self._version_of(ticket.arguments)
            for execution, tickets in self._memory.tickets.items()
            for ticket in tickets.values()
            if ticket.state is not TicketState.SETTLED and not self._memory.executions[execution].status.terminal
        )

    async def begun_before(self, moment: datetime) -> int:
        under_way = (each for each in self._memory.executions.values() if not each.status.terminal)
        return sum(each.started_at is not None and each.started_at < moment for each in under_way)


@dataclass(slots=True)
class MemoryPublication:
    """The public halves that the functions of this process have."""

    public: str = ""
    receipt_keys: dict[int, str] = field(default_factory=dict)
    drains: timedelta = timedelta(0)

    async def sealing(self, public: str) -> None:
        self.public = public

    async def receipts(self, public: Mapping[int, str]) -> None:
        self.receipt_keys = dict(public)

    async def receipts_served(self) -> Mapping[int, str]:
        return dict(self.receipt_keys)
