"""The order of answers in a conversation: the end of one has the next delivered."""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.conversations.conversation import find_next
from ferryman.domain.executions.execution import Execution
from ferryman.ports.conversations import Conversations
from ferryman.ports.errors import UnavailableError
from ferryman.ports.log import Log
from ferryman.ports.queue import Queue

WATCHED_FIRST = timedelta(seconds=1)
"""How long the next answer is left to a process in which it is watched, which has it delivered and relays it at once."""


async def wake_next_answer(conversations: Conversations, queue: Queue, log: Log, execution: Execution) -> None:
    """Deliver the execution of the next answer in the conversation of `execution`, if that is not its own.

    Where that fails, its time comes anyway: a delivery that came too early was put back.
    """
    if not execution.answer:
        return
    try:
        stored = await conversations.get(execution.conversation, owner=execution.owner, workspace=execution.workspace)
        following = None if stored is None else find_next(stored)
        if following is not None and following.execution != execution.id:
            await queue.enqueue(following.execution, slice=0, after=WATCHED_FIRST, wake_up="answer")
    except UnavailableError as error:
        log.line("answer.not_passed_on", execution=execution.id, reason=str(error), severity="WARNING")
