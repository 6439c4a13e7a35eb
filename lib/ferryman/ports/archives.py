"""The port of history that imports bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedHistory:
    """Some parts of an execution that has ended elsewhere, whose id here is `name`.

    `execution` is None where an earlier file had its line; `policy` is given where that came in a later file.
    """

    name: str
    execution: Execution | None = field(default=None, repr=False)
    policy: ExecutionPolicy | None = field(default=None, repr=False)
    parts: ExecutionParts = field(default_factory=ExecutionParts, repr=False)


class Archives(Protocol):
    """Imported history.

    `add_history` stores parts of executions of a workspace, each in the place of the same part: it starts nothing, moves
    nobody's credits and counts in no limit. They expire as if they had ended at `ended_at`, kept for `retention_days` by their
    workspace. It raises `InvalidInputError` for what is too large to be stored, and `WorkspaceGoneError` where the workspace is
    not there or is being deleted, which the transaction of every commit asks. `add_conversations` stores
    conversations and messages likewise. `list_entries` returns the movements of credits that an imported execution had where
    it ran: they are no entries of the ledger here, and no statement counts them.
    """

    async def add_history(
        self,
        history: Sequence[ImportedHistory],
        *,
        owner: str,
        workspace: str,
        ended_at: datetime,
        retention_days: int | None,
    ) -> None: ...
    async def add_conversations(
        self,
        conversations: Sequence[Conversation],
        messages: Sequence[Message],
        *,
        owner: str,
        workspace: str,
        ended_at: datetime,
        retention_days: int | None,
    ) -> None: ...
    async def list_entries(self, execution: str) -> Sequence[LedgerEntry]: ...
