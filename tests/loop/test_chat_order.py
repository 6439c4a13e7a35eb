"""Several messages at once on one conversation: answered in their order, each once, whatever is done between two steps."""

from __future__ import annotations

import asyncio
import random

import pytest

from ferryman.domain.conversations.message import AnswerState
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.loop.run import deliver
from ferryman.ports.model import ReplyWatcher
from tests.loop.conftest import says
from tests.loop.test_chat import Chat

INTERLEAVINGS = 100
DEVICES, MESSAGES_EACH = 2, 2
STEPS_MAX = 12


class Echo:
    """A model that answers with what it was asked last, and keeps every prompt. It takes some steps for it."""

    def __init__(self, draw: random.Random) -> None:
        self.prompts: list[list[str]] = []
        self._draw = draw

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
        del watcher
        texts = [str(message["content"]).strip() for message in prompt.messages]
        self.prompts.append(texts)
        await let_others_go_on(self._draw)
        return says(f"echo of {texts[-1]}")


async def let_others_go_on(draw: random.Random) -> None:
    for _ in range(draw.randrange(STEPS_MAX)):
        await asyncio.sleep(0)


async def drain(chat: Chat, draw: random.Random) -> None:
    """Deliver what is in the queue, in any order and some of it twice, until nothing is."""
    while (item := chat.queue.take()) is not None:
        await let_others_go_on(draw)
        for _ in range(1 + (draw.random() < 0.2)):
            await deliver(chat.deps(), item.execution, slice=item.slice, holder=f"h{draw.random()}", waits=item.waits)


@pytest.mark.parametrize("seed", range(INTERLEAVINGS))
async def test_messages_of_several_devices_are_answered_in_their_order_and_none_is_lost(seed: int) -> None:
    draw, chat = random.Random(seed), Chat()
    chat.task(task_prompt="", system_prompt="You help.")
    chat.model = Echo(draw)

    async def talk(device: int) -> None:
        for number in range(MESSAGES_EACH):
            await let_others_go_on(draw)
            execution = await chat.ask(f"{device}.{number}")
            await chat.queue.enqueue(execution, slice=0)
            await drain(chat, draw)

    await asyncio.gather(*map(talk, range(DEVICES)))
    await drain(chat, draw)
    count = DEVICES * MESSAGES_EACH
    questions = [chat.read(2 * index + 1).content for index in range(count)]
    answers = [chat.read(2 * index + 2) for index in range(count)]
    assert sorted(questions) == sorted(f"{device}.{number}" for device in range(DEVICES) for number in range(MESSAGES_EACH))
    assert [answer.content for answer in answers] == [f"echo of {question}" for question in questions]
    assert {answer.state for answer in answers} == {AnswerState.COMPLETE}
    assert {execution.status for execution in chat.memory.executions.values()} == {Status.COMPLETED}
    history = [text for question in questions for text in (question, f"echo of {question}")]
    assert chat.model.prompts == [history[: 2 * index + 1] for index in range(count)]
    assert chat.memory.conversations["conv"].pending == ()
