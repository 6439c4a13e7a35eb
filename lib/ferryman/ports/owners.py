"""The ports of owners: their API keys, the ledger of their credits, their streams; and of our own functions' callers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.conversation import ConversationBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.owners.owner import Owner


class Owners(Protocol):
    """Owners, and their own API keys, which are stored as SHA-256 only."""

    async def get(self, owner: str) -> Owner | None: ...
    async def put(self, owner: Owner) -> None: ...
    async def add_key(self, digest: str, owner: str, at: datetime) -> None: ...


class CallerIdentifier(Protocol):
    """Checks an identity token, and returns the caller's e-mail or raises PermissionError."""

    async def identify(self, authorization: str | None, *, audience: str) -> str: ...


class Ledger(Protocol):
    """The entries and balances of credits, which the writes of executions create.

    `list_conversations` returns the balances of at most so many conversations of a workspace, those that changed last first.
    """

    async def balance(self, balance: str) -> CreditBalance: ...
    async def list_conversations(self, workspace: str, *, most: int) -> Sequence[ConversationBalance]: ...
    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]: ...
    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]: ...


class Streams(Protocol):
    """The streams of events that an owner has open, over all instances.

    `hold` counts `stream` among them `until` then, and returns whether it may be open: not while `most` others are. It is
    called when the stream opens and while it is open. `release` ends it; one that is never released counts until its time ends.
    """

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool: ...
    async def release(self, owner: str, stream: str) -> None: ...
