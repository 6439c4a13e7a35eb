"""The history of an answer: the branch of its conversation up to its question, as the model reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from ferryman.domain.conversations.compaction import find_questions, plan_history
from ferryman.domain.conversations.conversation import ROOT, ConversationGoneError
from ferryman.domain.conversations.message import AnswerState, Speaker, select_branch
from ferryman.domain.conversations.message import Message as ChatMessage
from ferryman.domain.conversations.titles import is_first_complete
from ferryman.domain.conversations.turns import UNANSWERED, write_plainly
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, SummaryPlan
from ferryman.domain.executions.message import Block, Message
from ferryman.domain.labels.label import OWNED, READ, FlowLabel, drop_sources, join
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.start import StartRejectedError

HISTORY_CHARACTERS_MAX = 600_000
"""As JSON: step 0 stores the history, in one document with the prompt and the tools."""


EXPIRED: Sequence[Message] = (
    {"role": "user", "content": "[Earlier messages of this conversation have expired.]"},
    {"role": "assistant", "content": UNANSWERED[AnswerState.COMPLETE]},
)
"""What the model reads in the place of messages that were kept as long as their workspace keeps them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHistory:
    """The messages before the question of an answer, those by number that people wrote (`questions`), the label of all of them
    and of the question's files, what is to be summarized first, whether there is no complete answer yet (`is_first`), and
    whether the question came through an MCP client or an archive (`is_foreign`).
    """

    messages: tuple[Message, ...] = field(default=(), repr=False)
    questions: tuple[int, ...] = ()
    label: FlowLabel = OWNED
    summary: SummaryPlan | None = None
    is_first: bool = False
    is_foreign: bool = False


async def read_history(
    deps: LoopDependencies, execution: Execution, *, most: int, can_reread: bool, has_tools: bool
) -> ChatHistory:
    """Return the history of an answer, nothing for an execution of no chat.

    Its messages have `most` characters, or are summarized. What has expired is told as such. Raise `StartRejectedError` where
    the question was deleted, and where they are too long.
    """
    if not execution.answer:
        return ChatHistory()
    stored = await deps.conversations.list_messages(execution.conversation)
    question = next((message for message in stored if message.number == execution.question), None)
    if question is None:
        raise StartRejectedError("the message was deleted before it was answered")
    try:
        branch = select_branch(stored, question.parent)
    except ConversationGoneError as error:
        raise StartRejectedError(f"the conversation cannot be gone on with: {error}") from None
    while branch and branch[0].role is not Speaker.USER:
        branch = branch[1:]
    history, plan = plan_history(branch, most=most, can_reread=can_reread)
    history = history if has_tools else write_plainly(history)
    if (branch[0].parent if branch else question.parent) != ROOT:
        history = [*EXPIRED, *history]
        plan = None if plan is None else replace(plan, count=plan.count + len(EXPIRED))
    if len(json.dumps(history)) > HISTORY_CHARACTERS_MAX:
        raise StartRejectedError(f"the conversation is longer than {HISTORY_CHARACTERS_MAX:,} characters: begin another")
    return ChatHistory(
        messages=tuple(history),
        questions=find_questions(history, branch),
        label=drop_sources(join(map(label_message, (*branch, question)))),
        summary=plan,
        is_first=is_first_complete(stored),
        is_foreign=question.label != OWNED,
    )


def label_message(message: ChatMessage) -> FlowLabel:
    """Return the label of a message with the names of its files, each of which anybody may have chosen."""
    return join((OWNED, message.label, *(READ for _ in message.attachments[:1])))


async def scan_history(deps: LoopDependencies, execution: Execution, history: Sequence[Message]) -> list[Message]:
    """Return the messages without credentials of the task: one may have been stored since they were written."""
    blocks: list[Block] = []
    for message in history:
        content = message["content"]
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not blocks:
        return []
    scanned = iter(await deps.scanner.scan(execution, blocks))
    return [
        {**message, "content": next(scanned)["text"]}
        if isinstance(message["content"], str)
        else {**message, "content": [next(scanned) for _ in message["content"]]}
        for message in history
    ]
