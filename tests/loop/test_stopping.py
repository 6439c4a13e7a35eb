"""A person stops an answer: nothing more is asked or sent, what was written is kept, and what it took is charged once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.message import AnswerState
from ferryman.domain.executions.execution import STOPPED, Status, Step
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.model import ScriptedModel, write_word_by_word
from ferryman.loop.live import UNREAD_TOKENS
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.ports.model import ReplyWatcher
from tests.builders import build_execution
from tests.contracts.values import build_sealed
from tests.loop.conftest import KEY, fetches, redacted, says
from tests.loop.test_chat import Chat
from tests.replay.conftest import otherwise

COUNTED = Usage(input_tokens=40, output_tokens=1, cache_read_tokens=20)
PROMPT_TOKENS_MAX = 2_000


class Stopped(ScriptedModel):
    """A model that writes its reply up to its last word, and then nothing more until it is broken off."""

    def __init__(self, chat: Chat, script: Sequence[Reply], *, counted: Usage = COUNTED) -> None:
        super().__init__(script)
        self._chat, self._counted = chat, counted

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
        assert watcher is not None
        reply = await super().reply(prompt)
        if self.remaining:
            return reply
        written = [*write_word_by_word(reply.content)]
        for delta in written[:-1]:
            watcher.add(delta)
        try:
            await self._chat.stop()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            watcher.break_off(self._counted, sum(len(delta.text) for delta in written[:-1]))
            raise
        return reply


class StoppedChat(Chat):
    """A chat with one question, whose answer is stopped."""

    async def begin(self, *script: Reply, counted: Usage = COUNTED) -> None:
        await self.ask()
        self.model = Stopped(self, script, counted=counted)
        async with asyncio.timeout(60):
            await deliver(self.deps(), "e", slice=0, holder="h")

    async def ask(self) -> str:
        execution = build_execution(conversation="conv", input="Where is the ferry?")
        await self.conversations.ask(self.memory.conversations["conv"], Question(content="Where?"), execution, most=9)
        return execution.id

    async def stop(self) -> None:
        await MemoryExecutions(self.memory).cancel("e", by="ann", now=self.clock.now())

    @property
    def steps(self) -> list[Step]:
        return list(self.memory.steps.get("e", {}).values())


@pytest.fixture
def chat() -> StoppedChat:
    chat = StoppedChat()
    chat.task(task_prompt="", system_prompt="You help.")
    return chat


async def test_what_was_written_is_kept_and_marked(chat: StoppedChat) -> None:
    await chat.begin(says("In Harwich, I believe."))
    (step,) = chat.steps
    assert (step.stop_reason, step.content) == (STOPPED, ({"type": "text", "text": "In Harwich, I "},))
    assert (chat.execution.status, chat.execution.output, chat.execution.cancelled_by) == (
        Status.KILLED,
        "In Harwich, I ",
        "ann",
    )
    assert (chat.read(2).content, chat.read(2).state) == ("In Harwich, I ", AnswerState.STOPPED)


async def test_a_call_that_it_was_writing_is_not_made(chat: StoppedChat) -> None:
    await chat.begin(says("I look.", ("http_get", {"url": "https://api.coingecko.com/1 2"})))
    assert (chat.steps[0].content, chat.steps[0].calls, chat.executed) == (({"type": "text", "text": "I look."},), 0, [])


async def test_the_tokens_are_those_that_were_counted_and_those_that_may_have_been_written(chat: StoppedChat) -> None:
    await chat.begin(says("In Harwich, I believe."))
    assert chat.steps[0].usage == replace(COUNTED, output_tokens=len("In Harwich, I ") + UNREAD_TOKENS)
    assert chat.execution.credits_used == chat.steps[0].credits > 0
    assert sum(posting.credits for entry in chat.memory.entries.values() for posting in entry.postings) == 0


async def test_before_anything_has_come_its_prompt_is_charged(chat: StoppedChat) -> None:
    await chat.begin(says("Harwich."), counted=Usage())
    usage = chat.steps[0].usage
    assert 0 < usage.input_tokens < PROMPT_TOKENS_MAX
    assert (usage.output_tokens, chat.steps[0].content) == (UNREAD_TOKENS, ())


async def test_no_more_is_charged_than_the_reply_could_have_taken(chat: StoppedChat) -> None:
    chat.task(max_tokens=100)
    await chat.begin(says("In Harwich, I believe."))
    assert chat.steps[0].usage.output_tokens == 100


async def test_a_replay_of_it_is_the_same(chat: StoppedChat) -> None:
    await chat.begin(fetches(1), says("In Harwich, I believe."))
    assert await otherwise(chat) == []


async def test_a_key_in_what_was_written_is_cut_out(chat: StoppedChat) -> None:
    chat.task(integrations=("github",))
    chat.memory.credentials["t"] = {"KEY": build_sealed("KEY")}
    chat.on_scan = redacted
    await chat.begin(says(f"It is {KEY} indeed"))
    assert chat.execution.output == "It is [redacted:KEY] "


async def test_an_instance_that_dies_before_the_end_is_stored_leaves_it_to_the_next(chat: StoppedChat) -> None:
    class Dying(MemoryExecutions):
        async def finish(self, *_: object, **__: object) -> None:
            raise UnavailableError("gone")

    await chat.ask()
    chat.model = Stopped(chat, [says("In Harwich, I believe.")])
    deps = chat.deps()
    await deliver(replace(deps, executions=Dying(chat.memory)), "e", slice=0, holder="h")
    assert chat.execution.status is Status.RUNNING
    chat.clock.turn(600)
    await deliver(deps, "e", slice=0, holder="h")
    assert (chat.execution.status, chat.execution.output, len(chat.steps)) == (Status.KILLED, "In Harwich, I ", 1)


async def test_what_its_last_calls_did_before_it_was_stopped_is_part_of_it(chat: StoppedChat) -> None:
    def on_call(ticket: Ticket) -> ToolCallResult:
        chat.memory.executions["e"] = replace(chat.execution, cancel_requested=True)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    chat.task(task_prompt="", tools=("http_post",))
    chat.on_call = on_call
    await chat.ask()
    chat.model = ScriptedModel([says("I write.", *[("http_post", {"url": f"https://a.test/{n}"}) for n in range(2)])])
    await deliver(chat.deps(), "e", slice=0, holder="h")
    (turn,) = chat.read(2).parts
    assert [call["arguments"]["url"] for call in turn["calls"]] == ["https://a.test/0", "https://a.test/1"]
    assert [(result["ok"], result["content"]) for result in turn["results"]] == [
        (True, "sent"),
        (False, refusal.EXECUTION_ENDED.message),
    ]
    assert (turn["text"], chat.read(2).content) == ("", "I write.")


async def test_an_answer_that_is_stopped_between_its_turns_has_no_text_twice(chat: StoppedChat) -> None:
    def on_call(ticket: Ticket) -> ToolCallResult:
        chat.memory.executions["e"] = replace(chat.execution, cancel_requested=True)
        return ToolCallResult(ticket.tool, "page", response_status=200)

    chat.on_call = on_call
    await chat.ask()
    chat.model = ScriptedModel([says("I look.", ("http_get", {"url": "https://a.test/"}))])
    await deliver(chat.deps(), "e", slice=0, holder="h")
    assert ([turn["text"] for turn in chat.read(2).parts], chat.read(2).content) == ([""], "I look.")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60))
async def test_nothing_begins_once_it_was_stopped(moment: int) -> None:
    chat = StoppedChat()
    chat.task(task_prompt="", system_prompt="You help.")
    begun: list[bool] = []

    class Model(ScriptedModel):
        async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
            begun.append(chat.execution.cancel_requested)
            await asyncio.sleep(0)
            return await super().reply(prompt, watcher=watcher)

    def on_call(ticket: Ticket) -> ToolCallResult:
        begun.append(chat.execution.cancel_requested)
        return ToolCallResult(ticket.tool, "page", response_status=200)

    async def stop() -> None:
        for _ in range(moment):
            await asyncio.sleep(0)
        await chat.stop()

    chat.on_call = on_call
    await chat.ask()
    chat.model = Model([fetches(2), fetches(2), says("In Harwich.")])
    stopping = asyncio.create_task(stop())
    await deliver(chat.deps(), "e", slice=0, holder="h")
    await stopping
    # one that was allowed to begin at that very moment may, and is broken off
    assert sum(begun) <= 1
    assert chat.execution.status.terminal
    assert chat.execution.credits_used <= Decimal(100)
