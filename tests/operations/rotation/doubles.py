"""Doubles of a rotation in memory: the inventory of what is sealed to a key's versions, and the published keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.calls.call import TicketState
from ferryman.domain.credentials.keys import FETCHED, SealedCredentialRef
from ferryman.inmemory.memory import Memory, MemoryStore


class MemorySealedInventory(MemoryStore):
    """Everything sealed in `memory`, and to which version."""

    def __init__(self, memory: Memory, version_of: Callable[[bytes], int]) -> None:
        super().__init__(memory)
        self._version_of = version_of

    async def list_credentials(self) -> Sequence[SealedCredentialRef]:
        live = [
            SealedCredentialRef(task=task.removeprefix("mcp_servers/"), name=sealed.label.name, version=sealed.key_version)
            for task, stored in self._memory.credentials.items()
            for sealed in stored.values()
        ]
        former = [
            SealedCredentialRef(task=task.removeprefix("mcp_servers/"), name=ended.name, version=ended.key_version)
            for task, stored in self._memory.former.items()
            for ended in stored.values()
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
    decision_keys: dict[int, str] = field(default_factory=dict)
    drains: timedelta = timedelta(0)

    async def publish_sealing_key(self, public: str) -> None:
        self.public = public

    async def publish_receipt_keys(self, public: Mapping[int, str]) -> None:
        self.receipt_keys = dict(public)

    async def read_receipt_keys(self) -> Mapping[int, str]:
        return dict(self.receipt_keys)

    async def publish_decision_keys(self, public: Mapping[int, str]) -> None:
        self.decision_keys = dict(public)

    async def read_decision_keys(self) -> Mapping[int, str]:
        return dict(self.decision_keys)
