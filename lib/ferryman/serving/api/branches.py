"""Branches of a conversation, read from their end: what is shown last comes first."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.conversation import ROOT, Conversation
from ferryman.domain.conversations.message import Message


async def read_branch(
    deps: ApiDependencies, conversation: Conversation, last: int, *, most: int
) -> tuple[Sequence[Message], int | None]:
    """Return at most `most` messages of the branch that ends with message `last`, the newest first, and where the rest ends.

    An answer that has not ended is left out, with what is not there any more: the branch goes on from its question. Messages
    are read by the number: most of a branch follow each other.
    """
    known: dict[int, Message] = {}
    here: list[Message] = []
    number, questions = last, {item.number: item.execution for item in conversation.pending}
    while number != ROOT and len(here) < most:
        if number in questions:
            execution = await deps.executions.get(questions[number])
            number = ROOT if execution is None else execution.question
            continue
        if number not in known:
            numbers = range(max(ROOT + 1, number - most + len(here) + 1), number + 1)
            known.update((item.number, item) for item in await deps.conversations.get_messages(conversation.id, numbers))
        message = known.get(number)
        if message is None or message.parent >= number:
            break
        here.append(message)
        number = message.parent
    else:
        return here, number or None
    return here, None
