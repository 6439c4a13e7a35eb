"""Imported history in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import check_workspace
from ferryman.ports.archives import ImportedHistory


class MemoryArchives(MemoryStore):
    """`ports.Archives`. Memory expires nothing."""

    async def add_history(
        self,
        history: Sequence[ImportedHistory],
        *,
        owner: str,
        workspace: str,
        ended_at: datetime,  # noqa: ARG002 - as above
        retention_days: int | None,  # noqa: ARG002 - as above
    ) -> None:
        memory = self._memory
        check_workspace(memory, workspace, owner=owner)
        for piece in history:
            name, parts = piece.name, piece.parts
            if piece.execution is not None:
                memory.executions[name] = piece.execution
            if piece.policy is not None:
                memory.executions[name] = replace(memory.executions[name], policy=piece.policy)
            if parts.opening is not None:
                memory.openings[name] = parts.opening
            memory.steps.setdefault(name, {}).update((step.number, step) for step in parts.steps)
            memory.tickets.setdefault(name, {}).update((ticket.seq, ticket) for ticket in parts.tickets)
            known = {entry.id: entry for entry in (*memory.imported_entries.get(name, ()), *parts.entries)}
            memory.imported_entries[name] = tuple(known.values())
            if parts.receipts:
                memory.receipts.setdefault(name, {})[parts.receipts[0].number] = tuple(parts.receipts)

    async def add_conversations(
        self,
        conversations: Sequence[Conversation],
        messages: Sequence[Message],
        *,
        owner: str,
        workspace: str,
        ended_at: datetime,  # noqa: ARG002 - as above
        retention_days: int | None,  # noqa: ARG002 - as above
    ) -> None:
        check_workspace(self._memory, workspace, owner=owner)
        self._memory.conversations.update((conversation.id, conversation) for conversation in conversations)
        for message in messages:
            self._memory.messages.setdefault(message.conversation, {})[message.number] = message

    async def list_entries(self, execution: str) -> Sequence[LedgerEntry]:
        return self._memory.imported_entries.get(execution, ())
