"""Archived conversations: an archive's lines about conversations and their messages, read without trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AwareDatetime, ConfigDict, Field, StrictBool, StrictInt

from ferryman.domain.calls.part import PartKind
from ferryman.domain.conversations.conversation import MESSAGES_MAX, TITLE_CHARACTERS_MAX
from ferryman.domain.conversations.message import ATTACHMENTS_MAX, AnswerState, Speaker
from ferryman.serving.api.shapes.call import FlowLabelResponse
from ferryman.serving.api.shapes.shape import Credits, ResponseShape

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
OptionalId = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_-]{0,63})?$")]
Number = Annotated[StrictInt, Field(ge=0, le=MESSAGES_MAX)]
Place = Annotated[StrictInt, Field(ge=0, le=10**9)]


class _Line(ResponseShape):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True, from_attributes=True)

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole: nothing."""
        return None


class ArchivedConversation(_Line):
    """A conversation: `head` is the last message of its shown branch that is in the archive, `last` the newest number."""

    id: Id
    agent: Id
    task: Id
    person: OptionalId
    title: Annotated[str, Field(max_length=TITLE_CHARACTERS_MAX)]
    is_named: StrictBool
    head: Number
    last: Number
    created_at: AwareDatetime
    updated_at: AwareDatetime

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole."""
        return None if self.head <= self.last else "head: must not be above last"


class ArchivedAttachment(_Line):
    """A file of the workspace that a message refers to."""

    key: Annotated[str, Field(max_length=1_024)]
    etag: Annotated[str, Field(max_length=200)]
    media_type: Annotated[str, Field(max_length=200)]
    size_bytes: Place


class ArchivedCall(_Line):
    """A call of a turn."""

    id: Annotated[str, Field(max_length=200)]
    name: Annotated[str, Field(max_length=200)]
    arguments: dict[str, Any]


class ArchivedResult(_Line):
    """A result of a turn, as the model read it: `parts` are what its content consists of."""

    call: Annotated[str, Field(max_length=200)]
    seq: Place
    name: Annotated[str, Field(max_length=200)]
    ok: StrictBool
    content: str
    parts: tuple[tuple[PartKind, Place, Place], ...]


class ArchivedTurn(_Line):
    """A turn of an answer that made calls."""

    text: str
    calls: tuple[ArchivedCall, ...]
    results: tuple[ArchivedResult, ...]


class ArchivedMessage(_Line):
    """A message of the conversation before it in the archive."""

    conversation: Id
    number: Annotated[StrictInt, Field(ge=1, le=MESSAGES_MAX)]
    parent: Number
    role: Speaker
    at: AwareDatetime
    content: str
    person: OptionalId
    attachments: Annotated[tuple[ArchivedAttachment, ...], Field(max_length=ATTACHMENTS_MAX)]
    parts: tuple[ArchivedTurn, ...]
    execution: OptionalId
    model: Annotated[str, Field(max_length=200)]
    state: AnswerState
    error: Annotated[str, Field(max_length=10_000)] | None
    credits: Credits
    label: FlowLabelResponse
    summary: str
    summarized: Number

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole."""
        if self.parent >= self.number or self.summarized >= self.number:
            return "parent, summarized: must be below number"
        spans = ((part, result) for turn in self.parts for result in turn.results for part in result.parts)
        if not all(start <= end <= len(result.content) for (_, start, end), result in spans):
            return "parts: a part is not within its content"
        return None


SHAPES: Mapping[str, type[ArchivedConversation | ArchivedMessage]] = {
    "conversations": ArchivedConversation,
    "messages": ArchivedMessage,
}
"""What a line is, by the kind of its file."""
