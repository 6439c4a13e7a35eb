"""The port of conversations and their messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ferryman.domain.conversations.asking import AskedQuestion, Question
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedAnswer:
    """An answer that was asked for: what was stored of it, and the occupancy of the owner with its execution."""

    question: AskedQuestion
    occupancy: Occupancy


class Conversations(Protocol):
    """Conversations of workspaces. Messages are created and never changed; an answer is stored by the end of its execution.

    Nothing of a conversation that is in another workspace, or of another owner, is found.
    """

    async def create(self, conversation: Conversation, *, done: Completion | None = None) -> None:
        """Store a new conversation.

        Raise `WorkspaceGoneError` or `AgentGoneError` where its place is not there or is being deleted, and `AnsweredError`
        where the request was answered; nothing is stored then.
        """

    async def get(self, conversation: str, *, owner: str, workspace: str) -> Conversation | None: ...

    async def list(
        self, owner: str, workspace: str, *, agent: str | None = None, after: Position | None = None, most: int = 50
    ) -> Page[Conversation]:
        """Return at most `most` conversations, the newest first, from behind `after`; of one agent where it is named."""

    async def update(self, conversation: Conversation, fields: Collection[str], *, since: datetime) -> bool:
        """Store these fields; False where it is gone. Raise `StaleError` where it was changed after `since`."""

    async def ask(
        self, conversation: Conversation, question: Question, execution: Execution, *, most: int, done: Completion | None = None
    ) -> StartedAnswer:
        """Store a question, and the execution that will answer it, in one commit.

        Raise `ConversationGoneError`, `LimitReachedError`, `TooManyQueuedError` where the owner has `most` executions queued,
        `TaskDisabledError`, `WorkspaceGoneError` or `AnsweredError`; nothing is stored then.
        """

    async def start_title(self, execution: Execution, *, most: int) -> Occupancy:
        """Store the execution that gives its conversation a title, unless it is there, and return its owner's occupancy.

        Raise `TitleNotNeededError` where the conversation is gone or a person has named it, and `TooManyQueuedError`,
        `TaskDisabledError` or `WorkspaceGoneError` as `ask` does; nothing is stored then.
        """

    async def list_messages(self, conversation: str, *, after: int = 0, most: int | None = None) -> Sequence[Message]:
        """Return the messages numbered above `after`, in order, and at most so many: of all branches."""

    async def get_messages(self, conversation: str, numbers: Collection[int]) -> Sequence[Message]:
        """Return those of these numbers that are there, in order."""
