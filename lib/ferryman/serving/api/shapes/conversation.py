"""Conversations and their messages; calls and results have the formats of the tool-calling page (S3-26 … S3-28)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from ferryman.domain.conversations.conversation import TITLE_CHARACTERS_MAX, Conversation
from ferryman.domain.conversations.message import ATTACHMENTS_MAX, CONTENT_CHARACTERS_MAX, Message, Speaker
from ferryman.domain.conversations.rendering import render_turn
from ferryman.domain.executions.execution import Execution
from ferryman.serving.api.shapes.shape import Credits, ListPage, RequestShape, ResponseShape

AnswerStatus = Literal["pending", "complete", "stopped", "failed"]
_Number = Annotated[StrictInt, Field(ge=1, le=10_000)]


class AnswerRequest(RequestShape):
    """How an answer is made. `stream`: its events as they happen, in place of the answer once it has ended."""

    model: StrictStr | None = Field(default=None, description="The model of this answer; null: that of the task, or its agent")
    enable_tools: StrictBool = Field(default=True, alias="enableTools", description="false: the answer is made without tools")
    stream: StrictBool = False


class NewMessage(AnswerRequest):
    """A message of a person. It comes after the end of the shown branch, unless it names another place."""

    content: StrictStr = Field(min_length=1, max_length=CONTENT_CHARACTERS_MAX)
    attachments: Annotated[tuple[StrictStr, ...], Field(max_length=ATTACHMENTS_MAX, description="Keys of files")] = ()
    edits: _Number | None = Field(default=None, description="The number of the message that it is said in the place of")
    after: _Number | None = Field(default=None, description="The number of the answer that it follows, to begin a branch there")


class NewChatMessage(AnswerRequest):
    """A message of a person to an agent, in a new conversation where it names none (S3-40)."""

    content: StrictStr = Field(min_length=1, max_length=CONTENT_CHARACTERS_MAX)
    conversation_id: StrictStr | None = Field(default=None, alias="conversationId", description="null: a new conversation")
    attachments: Annotated[tuple[StrictStr, ...], Field(max_length=ATTACHMENTS_MAX, description="Keys of files")] = ()


class NewConversation(RequestShape):
    """A conversation to begin. It is with a task where it names one, and with the agent's chat task otherwise."""

    agent_id: StrictStr | None = Field(default=None, description="null: the task's agent, or else the default one")
    task_id: StrictStr | None = Field(default=None, description="null: the agent's chat task")
    title: StrictStr | None = Field(default=None, max_length=TITLE_CHARACTERS_MAX, description="null: as its agent says")


class ConversationChange(RequestShape):
    """What is to change in a conversation."""

    title: StrictStr = Field(min_length=1, max_length=TITLE_CHARACTERS_MAX)


class PendingAnswerResponse(ResponseShape):
    """An answer that is waited for: the number that its message will have, and the execution that makes it."""

    number: int
    execution_id: str = Field(validation_alias="execution")


class ConversationResponse(ResponseShape):
    """A conversation. `head` is the number of the message that the shown branch ends with, 0 before the first; `pending` are
    the answers that are waited for, in the order in which they come."""

    conversation_id: str = Field(validation_alias="id")
    workspace_id: str = Field(validation_alias="workspace")
    agent_id: str = Field(validation_alias="agent")
    task_id: str = Field(validation_alias="task")
    person_id: str | None = Field(description="Who began it; null: the owner")
    title: str
    head: int
    pending: tuple[PendingAnswerResponse, ...]
    created_at: datetime
    updated_at: datetime


class ConversationList(ListPage):
    """A page of conversations, newest first."""

    conversations: tuple[ConversationResponse, ...]


class AttachmentResponse(ResponseShape):
    """A file of the workspace, as it was when the message came."""

    key: str
    etag: str
    media_type: str
    size_bytes: int


class AnswerMetadata(ResponseShape):
    """How an answer was made. `state` is `stopped` where a person stopped it; what was written until then is kept."""

    state: AnswerStatus
    model: str | None
    execution_id: str
    credits_used: Credits
    error: str | None


class MessageResponse(ResponseShape):
    """A message. `parent` is the number of the one before it, 0 for none: messages with the same one are branches.

    Of an answer, `messages` are its turns, with calls and results as the model made and read them; `toolCalls` and
    `toolResults` are those of all its turns. A person's message has none, and no `metadata`.
    """

    number: int
    parent: int
    role: Speaker
    content: str | None
    created_at: datetime
    person_id: str | None
    attachments: tuple[AttachmentResponse, ...]
    tool_calls: tuple[dict[str, Any], ...] = Field(serialization_alias="toolCalls")
    tool_results: tuple[dict[str, Any], ...] = Field(serialization_alias="toolResults")
    messages: tuple[dict[str, Any], ...]
    metadata: AnswerMetadata | None


class MessageList(ListPage):
    """A page of messages."""

    messages: tuple[MessageResponse, ...]


class ChatResponse(ResponseShape):
    """A message and the answer to it. One that is still `pending` is at `events`, and among the messages once it has ended.

    `userMessage` is null for another answer to a message that was there.
    """

    conversation_id: str = Field(serialization_alias="conversationId")
    user_message: MessageResponse | None = Field(serialization_alias="userMessage")
    assistant_message: MessageResponse = Field(serialization_alias="assistantMessage")
    events: str = Field(description="Where the events of the answer are, as they happen and afterwards")


def to_conversation(conversation: Conversation) -> ConversationResponse:
    """Return the response for a conversation."""
    pending = tuple(map(PendingAnswerResponse.model_validate, conversation.pending))
    names = ("id", "workspace", "agent", "task", "title", "head", "created_at", "updated_at")
    fields = {name: getattr(conversation, name) for name in names}
    return ConversationResponse.model_validate({**fields, "person_id": conversation.person or None, "pending": pending})


def to_message(message: Message) -> MessageResponse:
    """Return the response for a message that is stored."""
    is_answer = message.role is Speaker.ASSISTANT
    turns = [item for turn in message.parts for item in render_turn(turn)] if is_answer else []
    metadata = AnswerMetadata(
        state=message.state.value,
        model=message.model or None,
        execution_id=message.execution,
        credits_used=message.credits,
        error=message.error,
    )
    return MessageResponse(
        number=message.number,
        parent=message.parent,
        role=message.role,
        content=message.content or None,
        created_at=message.at,
        person_id=message.person or None,
        attachments=tuple(map(AttachmentResponse.model_validate, message.attachments)),
        tool_calls=tuple(call for item in turns for call in item.get("toolCalls", ())),
        tool_results=tuple(item for item in turns if item["role"] == "tool"),
        messages=tuple(turns),
        metadata=metadata if is_answer else None,
    )


def to_pending_answer(execution: Execution) -> MessageResponse:
    """Return the response for an answer that has not ended."""
    return MessageResponse(
        number=execution.answer,
        parent=execution.question,
        role=Speaker.ASSISTANT,
        content=None,
        created_at=execution.created_at,
        person_id=None,
        attachments=(),
        tool_calls=(),
        tool_results=(),
        messages=(),
        metadata=AnswerMetadata(
            state="pending", model=None, execution_id=execution.id, credits_used=execution.credits_used, error=None
        ),
    )
