"""Messages of a conversation: what a person asked, and what the agent answered, with the calls that it made for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ferryman.domain.conversations.conversation import ConversationGoneError
from ferryman.domain.labels.label import OWNED, FlowLabel

CONTENT_CHARACTERS_MAX = 20_000
"""Of a person's message: as much as the input of an execution may have."""

ATTACHMENTS_MAX = 10


class Speaker(StrEnum):
    """Whose message it is."""

    USER = "user"
    ASSISTANT = "assistant"


class AnswerState(StrEnum):
    """How an answer ended. What was written until a person stopped it, or until it failed, is kept and marked so."""

    COMPLETE = "complete"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file of the workspace that a message refers to, as it was when the message came: `etag` names its version."""

    key: str
    etag: str
    media_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as stored; it never changes. `parent` is the number of the one before it in its branch, 0 for none.

    `content` is a person's text, or the text that an answer ended with. `parts` are an answer's turns in order: the calls of
    the model and their results (S3-26 … S3-28), and the texts between them. `person` is who asked, "" for the owner's own key.
    `execution` is the one that writes the answer, or wrote it; `error` says why it failed. `label` is that of all that the
    model had read when it wrote the answer; the sources are of that execution.
    An answer that began with a `summary` of the messages up to the number `summarized` keeps it: later ones go on from there.
    """

    conversation: str
    number: int
    parent: int
    role: Speaker
    at: datetime
    content: str = field(repr=False)
    person: str = ""
    attachments: tuple[Attachment, ...] = ()
    parts: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    execution: str = ""
    model: str = ""
    state: AnswerState = AnswerState.COMPLETE
    error: str | None = None
    credits: Decimal = Decimal(0)
    label: FlowLabel = OWNED
    summary: str = field(default="", repr=False)
    summarized: int = 0


def select_branch(messages: Iterable[Message], head: int) -> Sequence[Message]:
    """Return the branch that ends with message `head`, the first message first, as far back as `messages` go.

    An answer that has not ended is not among them, and older messages may have expired: a branch that does not begin with a
    message whose parent is 0 has lost its beginning. Raise `ConversationGoneError` where a message comes before its parent.
    """
    by_number = {message.number: message for message in messages}
    branch = []
    number = head
    while (message := by_number.get(number)) is not None:
        if message.parent >= number:
            raise ConversationGoneError(f"message {number} is not there")
        branch.append(message)
        number = message.parent
    return branch[::-1]
