"""A key's versions, the inventory of what is sealed to them, and the published keys, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ferryman.domain.calls.call import TicketState
from ferryman.domain.credentials.keys import FETCHED, KeyVersion, SealedCredentialRef
from ferryman.inmemory.memory import Memory, MemoryStore
from ferryman.ports.errors import DisabledKeyError, UnavailableError

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class MemoryKeyStore:
    """The versions of a key, of which only those not `disabled` can be read: `ports.PrivateKeys` too, silent while `away`."""

    privates: dict[int, bytes] = field(default_factory=dict, repr=False)
    disabled: set[int] = field(default_factory=set)
    away: bool = False

    async def list_versions(self) -> Sequence[KeyVersion]:
        return [KeyVersion(number=number, enabled=number not in self.disabled, created_at=CREATED) for number in self.privates]

    async def private(self, version: int) -> bytes:
        if self.away:
            raise UnavailableError("the keys are away")
        if version in self.disabled:
            raise DisabledKeyError(f"version {version} of the key is disabled")
        return self.privates[version]

    async def add(self, private: bytes) -> int:
        number = max(self.privates, default=0) + 1
        self.privates[number] = private
        return number

    async def enable(self, version: int) -> None:
        self.disabled.discard(version)

    async def disable(self, version: int) -> None:
        self.disabled.add(version)


class MemorySealedInventory(MemoryStore):
    """Everything sealed in `memory`, and to which version."""

    def __init__(self, memory: Memory, version_of: Callable[[bytes], int]) -> None:
        super().__init__(memory)
        self._version_of = version_of

    async def list_credentials(self) -> Sequence[SealedCredentialRef]:
        live = [
            SealedCredentialRef(task=task, name=sealed.label.name, version=sealed.key_version)
            for task, stored in self._memory.credentials.items()
            for sealed in stored.values()
        ]
        former = [
            SealedCredentialRef(task=task, name=former_values.name, version=former_values.key_version)
            for task, stored in self._memory.former.items()
            for former_values in stored.values()
        ]
        return live + former

    async def list_tokens(self) -> Sequence[SealedCredentialRef]:
        slots = [
            (slot.task, [self._version_of(token.ciphertext) for token in slot.tokens]) for slot in self._memory.tokens.values()
        ]
        return [SealedCredentialRef(task=task, name=FETCHED, version=min(versions)) for task, versions in slots if versions]

    async def count_calls(self) -> Mapping[int, int]:
        return Counter(
            self._version_of(ticket.arguments)
            for execution, tickets in self._memory.tickets.items()
            for ticket in tickets.values()
            if ticket.state is not TicketState.SETTLED and not self._memory.executions[execution].status.terminal
        )

    async def count_begun_before(self, moment: datetime) -> int:
        under_way = (execution for execution in self._memory.executions.values() if not execution.status.terminal)
        return sum(execution.started_at is not None and execution.started_at < moment for execution in under_way)


@dataclass(slots=True)
class MemoryPublication:
    """The public halves that the functions of this process have."""

    public: str = ""
    receipt_keys: dict[int, str] = field(default_factory=dict)
    drains: timedelta = timedelta(0)

    async def publish_sealing_key(self, public: str) -> None:
        self.public = public

    async def publish_receipt_keys(self, public: Mapping[int, str]) -> None:
        self.receipt_keys = dict(public)

    async def read_receipt_keys(self) -> Mapping[int, str]:
        return dict(self.receipt_keys)
