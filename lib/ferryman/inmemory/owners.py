"""Owners in memory, with their kill switches, the ledger of their credits, and the streams that they have open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.conversation import ConversationBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.domain.owners import stream as rules
from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.inmemory.memory import MemoryStore
from ferryman.ports.halts import Stoppable


class MemoryOwners(MemoryStore):
    """`ports.Owners`."""

    async def get(self, owner: str) -> Owner | None:
        return self._memory.owners.get(owner)

    async def put(self, owner: Owner) -> None:
        self._memory.owners[owner.id] = owner

    async def add_key(self, digest: str, owner: str, at: datetime) -> None:
        if digest in self._memory.keys:
            raise ValueError("the key exists already")
        self._memory.keys[digest] = ApiKey(owner=owner, created_at=at)


class MemoryLedger(MemoryStore):
    """`ports.Ledger`."""

    async def balance(self, balance: str) -> CreditBalance:
        return self._memory.balances.get(balance, CreditBalance(id=balance))

    async def list_conversations(self, workspace: str, *, most: int) -> Sequence[ConversationBalance]:
        here = (known for known in self._memory.conversation_balances.values() if known.workspace == workspace)
        return sorted(here, key=lambda known: (known.updated_at, known.id), reverse=True)[:most]

    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]:
        return sorted(
            (entry for entry in self._memory.entries.values() if entry.execution == execution), key=lambda entry: entry.at
        )

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]:
        entries = (entry for entry in self._memory.entries.values() if entry.owner == owner and since <= entry.at < until)
        return sorted(entries, key=lambda entry: entry.at)


class MemoryStreams(MemoryStore):
    """`ports.Streams`."""

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool:
        streams = rules.hold_stream(self._memory.streams.get(owner, {}), stream, now=now, until=until, most=most)
        if streams is not None:
            self._memory.streams[owner] = streams
        return streams is not None

    async def release(self, owner: str, stream: str) -> None:
        self._memory.streams[owner] = {
            name: until for name, until in self._memory.streams.get(owner, {}).items() if name != stream
        }


class MemoryHalts(MemoryStore):
    """`ports.Halts`."""

    async def find_halt_reason(self, owner: str, *, created: datetime | None = None) -> str | None:
        if self._stops(None, created):
            return BY_OPERATOR
        return BY_OWNER if self._stops(owner, created) else None

    async def find_halt_reasons(self, executions: Collection[Stoppable]) -> Mapping[Stoppable, str]:
        reasons = {(owner, created): await self.find_halt_reason(owner, created=created) for owner, created in executions}
        return {execution: reason for execution, reason in reasons.items() if reason is not None}

    async def list_cancelled(self, executions: Collection[str]) -> Collection[str]:
        stored = (self._memory.executions.get(name) for name in executions)
        return {execution.id for execution in stored if execution is not None and execution.cancel_requested}

    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None:
        if on:
            self._memory.halts.add(owner)
        elif owner in self._memory.halts:
            self._memory.halts.discard(owner)
            self._memory.released[owner] = now

    def _stops(self, owner: str | None, created: datetime | None) -> bool:
        released = self._memory.released.get(owner)
        return owner in self._memory.halts or (created is not None and released is not None and created <= released)
