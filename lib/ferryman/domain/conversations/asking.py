"""Asking: what one request for an answer changes, and what its answer is once the execution has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.conversations.conversation import Conversation, ask, derive_title
from ferryman.domain.conversations.message import AnswerState, Attachment, Message, Speaker
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.labels.label import OWNED, FlowLabel

STATES = {Status.COMPLETED: AnswerState.COMPLETE, Status.KILLED: AnswerState.STOPPED}
"""How an answer ended, by how its execution did; any other has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request for an answer: a new message, or another answer to the one of number `again`.

    A new message comes after `parent`, None for the end of the shown branch; an edit names the parent of what it replaces.
    `label` is that of its text: one that came through an MCP client is none that a person wrote here.
    """

    content: str = field(default="", repr=False)
    attachments: tuple[Attachment, ...] = ()
    parent: int | None = None
    again: int | None = None
    label: FlowLabel = OWNED


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """What is stored in one commit: the conversation, the new message, None where there is none, and the execution."""

    conversation: Conversation
    message: Message | None
    execution: Execution


def take_question(conversation: Conversation, question: Question, execution: Execution) -> AskedQuestion:
    """Return what a request changes. Raise `LimitReachedError` where too many answers are waited for."""
    now = execution.created_at
    parent = conversation.head if question.parent is None else question.parent
    changed, numbers = ask(conversation, execution.id, asks_again=question.again is not None, now=now)
    if not changed.title:
        changed = replace(changed, title=derive_title(question.content))
    message = None
    if numbers.question is not None:
        message = Message(
            conversation=conversation.id,
            number=numbers.question,
            parent=parent,
            role=Speaker.USER,
            at=now,
            content=question.content,
            person=execution.person,
            attachments=question.attachments,
            label=question.label,
        )
    question_number = numbers.question if question.again is None else question.again
    assert question_number is not None, "an answer has a question"
    return AskedQuestion(
        conversation=changed, message=message, execution=replace(execution, answer=numbers.answer, question=question_number)
    )


def build_answer(
    execution: Execution,
    *,
    parts: Sequence[Mapping[str, Any]] = (),
    model: str = "",
    label: FlowLabel = OWNED,
    summary: str = "",
    summarized: int = 0,
) -> Message:
    """Return the message that an ended execution leaves in its conversation. What was written until then is kept."""
    assert execution.completed_at is not None, "the execution has ended"
    return Message(
        conversation=execution.conversation,
        number=execution.answer,
        parent=execution.question,
        role=Speaker.ASSISTANT,
        at=execution.completed_at,
        content=execution.output or "",
        parts=tuple(parts),
        execution=execution.id,
        model=model,
        state=STATES.get(execution.status, AnswerState.FAILED),
        error=execution.error,
        credits=execution.credits_used,
        label=label,
        summary=summary,
        summarized=summarized,
    )
