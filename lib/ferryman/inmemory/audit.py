"""Audit entries in memory."""

from __future__ import annotations

from ferryman.domain.page import Page, Position
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.inmemory.memory import MemoryStore


class MemoryAuditEntries(MemoryStore):
    """`ports.AuditEntries`."""

    async def add(self, entry: AuditEntry) -> None:
        self._memory.audit[entry.id] = entry

    async def end(self, entry: AuditEntry) -> None:
        if entry.id in self._memory.audit:
            self._memory.audit[entry.id] = entry

    async def forget(self, entry: AuditEntry) -> None:
        self._memory.audit.pop(entry.id, None)

    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int) -> Page[AuditEntry]:
        here = [entry for entry in self._memory.audit.values() if (entry.owner, entry.workspace) == (owner, workspace)]
        newest = sorted(here, key=_locate, reverse=True)
        rest = [entry for entry in newest if after is None or _locate(entry) < after]
        return Page(items=tuple(rest[:most]), end=_locate(rest[most - 1]) if len(rest) > most else None)


def _locate(entry: AuditEntry) -> Position:
    return Position(entry.created_at, entry.id)
