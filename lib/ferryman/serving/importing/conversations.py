"""Conversations in an archive, read as strangers' input: under ids of the new workspace, and trusted by nobody.

Every message is labelled as read from somebody else, whatever its line says, so that no call is decided by what it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Attachment, Message
from ferryman.domain.labels.label import READ
from ferryman.serving.archived_conversations import ArchivedConversation, ArchivedMessage
from ferryman.serving.archived_people import read_people_line
from ferryman.serving.importing.target import ArchiveTarget

CONVERSATIONS, MESSAGES = "conversations", "messages"


@dataclass(slots=True)
class ReadConversations:
    """What a file has of conversations, each with the place of its line."""

    conversations: list[tuple[str, Conversation]] = field(default_factory=list)
    messages: list[tuple[str, Message]] = field(default_factory=list)


def read_conversations(kind: str, lines: Iterable[tuple[str, Mapping[str, Any]]], target: ArchiveTarget) -> ReadConversations:
    """Return what the lines of a file of one of the two kinds say. Raise `ArchiveError` with the first problem."""
    read = ReadConversations()
    for place, line in lines:
        shape: Any = read_people_line(place, kind, line)
        if kind == CONVERSATIONS:
            read.conversations.append((place, _build_conversation(shape, target)))
        else:
            read.messages.append((place, _build_message(shape, target)))
    return read


def _build_conversation(shape: ArchivedConversation, target: ArchiveTarget) -> Conversation:
    created, updated = (_date(moment, target) for moment in (shape.created_at, shape.updated_at))
    return Conversation(
        id=target.derive("conv", shape.id),
        owner=target.owner,
        workspace=target.workspace,
        agent=target.derive_agent(shape.agent),
        task=target.derive("task", shape.task),
        title=shape.title,
        is_named=shape.is_named,
        head=shape.head,
        last=shape.last,
        created_at=created,
        updated_at=max(created, updated),
    )


def _build_message(shape: ArchivedMessage, target: ArchiveTarget) -> Message:
    return Message(
        conversation=target.derive("conv", shape.conversation),
        number=shape.number,
        parent=shape.parent,
        role=shape.role,
        at=_date(shape.at, target),
        content=shape.content,
        attachments=tuple(Attachment(**attachment.model_dump()) for attachment in shape.attachments),
        parts=tuple(turn.model_dump(mode="json") for turn in shape.parts),
        execution=target.derive("exec", shape.execution) if shape.execution else "",
        model=shape.model,
        state=shape.state,
        error=shape.error,
        credits=shape.credits,
        label=READ,
        summary=shape.summary,
        summarized=shape.summarized,
    )


def _date(moment: datetime, target: ArchiveTarget) -> datetime:
    return min(moment.astimezone(UTC), target.began_at)
