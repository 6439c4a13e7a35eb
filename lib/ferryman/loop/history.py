"""The history of an answer: the branch of its conversation up to its question, as the model reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ferryman.domain.conversations.compaction import plan_history
from ferryman.domain.conversations.conversation import ROOT, ConversationGoneError
from ferryman.domain.conversations.message import AnswerState, Speaker, select_branch
from ferryman.domain.conversations.titles import is_first_complete
from ferryman.domain.conversations.turns import UNANSWERED, write_plainly
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, SummaryPlan
from ferryman.domain.executions.message import Block, Message
from ferryman.domain.labels.label import OWNED, FlowLabel, drop_sources, join
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.start import StartRejectedError

HISTORY_CHARACTERS_MAX = 600_000
"""As JSON: step 0 stores the history, in one document with the prompt and the tools."""


EXPIRED: Sequence[Message] = (
    {"role": "user", "content": "[Earlier messages of this conversation have expired.]"},
    {"role": "assistant", "content": UNANSWERED[AnswerState.COMPLETE]},
)
"""What the model reads in the place of messages that were kept as long as their workspace keeps them."""


async def read_history(
    deps: LoopDependencies, execution: Execution, *, most: int, can_reread: bool, has_tools: bool
) -> tuple[list[Message], FlowLabel, SummaryPlan | None, bool]:
    """Return the messages before the question of an answer, the label of all of them, which are to be summarized first, and
    whether the conversation has no complete answer yet.

    They have `most` characters, or are summarized; an execution of no chat has none. What has expired is told as such. Raise
    `StartRejectedError` where the question was deleted, and where they are too long.
    """
    if not execution.answer:
        return [], OWNED, None, False
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
    label = drop_sources(join((OWNED, *(message.label for message in branch))))
    return history, label, plan, is_first_complete(stored)


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
