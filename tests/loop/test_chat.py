"""Answers in a conversation: what the model reads before a question, and what its answer leaves for the next one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from ferryman.domain.calls.call import TRUNCATED, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import AnswerState, Message
from ferryman.domain.conversations.turns import write_question
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.usage import Usage
from ferryman.domain.labels.label import Integrity
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.inmemory.clock import START
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from tests.builders import build_execution
from tests.contracts.values import build_sealed
from tests.loop.conftest import Stage, fetches, redacted, says


class Chat(Stage):
    """A stage with a conversation, in which questions are asked; each has an execution of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.memory.executions.clear()
        self.count = 0
        place = build_execution()
        self.place = {"owner": place.owner, "workspace": place.workspace, "agent": place.agent}
        conversation = Conversation(id="conv", task="t", created_at=START, updated_at=START, **self.place)
        self.memory.conversations["conv"] = conversation
        self.conversations = MemoryConversations(self.memory)

    async def ask(self, content: str, **fields: object) -> str:
        self.count += 1
        created = START + timedelta(seconds=self.count)
        question = Question(content=content, **fields)
        text = write_question(content, question.attachments)
        execution = build_execution(id=f"e{self.count}", conversation="conv", input=text, created_at=created)
        await self.conversations.ask(self.memory.conversations["conv"], question, execution, most=9)
        return execution.id

    async def answer(self, execution: str, *script: object, delivered: bool = True) -> None:
        self.model = ScriptedModel(script)
        assert await deliver(self.deps(), execution, slice=0, holder="h") == delivered

    def read(self, number: int) -> Message:
        return self.memory.messages["conv"][number]

    def texts(self) -> list[object]:
        return [message["content"] for message in self.model.prompts[0].messages]


@pytest.fixture
def chat() -> Chat:
    stage = Chat()
    stage.task(task_prompt="", system_prompt="You help.")
    return stage


async def test_a_question_is_answered_and_the_answer_is_its_message(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry?"), says("In Harwich."))
    assert (chat.read(2).content, chat.read(2).parent, chat.read(2).state) == ("In Harwich.", 1, AnswerState.COMPLETE)
    assert chat.memory.conversations["conv"].pending == ()


async def test_the_next_question_comes_after_what_was_said(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry?"), says("In Harwich."))
    await chat.answer(await chat.ask("And the train?"), says("In Ely."))
    assert [str(text).strip() for text in chat.texts()] == ["Where is the ferry?", "In Harwich.", "And the train?"]


async def test_results_of_earlier_answers_are_read_with_their_frames(chat: Chat):
    await chat.answer(await chat.ask("Look."), fetches(2), says("Two pages."))
    await chat.answer(await chat.ask("And?"), says("That is all."))
    results = chat.model.prompts[0].messages[2]["content"]
    assert [(block["type"], block["content"]) for block in results] == [
        ("tool_result", "answer 0"),
        ("tool_result", "answer 1"),
    ]


async def test_what_was_read_before_labels_what_is_written_now(chat: Chat):
    page = Part(kind=PartKind.TEXT, start=0, end=6)
    chat.on_call = lambda ticket: ToolCallResult(ticket.tool, "a page", response_status=200, parts=(page,))
    await chat.answer(await chat.ask("Look."), fetches(1), says("A page."))
    await chat.answer(await chat.ask("And?"), says("That is all."))
    assert [chat.read(number).label.integrity for number in (1, 2, 3, 4)] == [
        Integrity.TRUSTED,
        Integrity.UNTRUSTED,
        Integrity.TRUSTED,
        Integrity.UNTRUSTED,
    ]


async def test_an_edit_forgets_what_came_after(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry?"), says("In Harwich."))
    await chat.answer(await chat.ask("Where is the train?", parent=0), says("In Ely."))
    assert [str(text).strip() for text in chat.texts()] == ["Where is the train?"]


async def test_questions_at_once_are_answered_in_their_order(chat: Chat):
    first, second = await chat.ask("one"), await chat.ask("two")
    await chat.answer(second)
    assert chat.memory.executions[second].status is Status.QUEUED
    await chat.answer(first, says("1"))
    assert second in [delivery.execution for delivery in chat.queue.waiting]
    await chat.answer(second, says("2"))
    assert [chat.read(number).content for number in (2, 4)] == ["1", "2"]
    assert [str(text).strip() for text in chat.texts()] == ["one", "1", "two"]


async def test_an_answer_that_fails_is_told_and_lets_the_next_come(chat: Chat):
    first, second = await chat.ask("one"), await chat.ask("two")
    await chat.answer(first, says("cut", stop="max_tokens"))
    assert (chat.read(2).state, chat.read(2).content) == (AnswerState.FAILED, "cut")
    await chat.answer(second, says("2"))
    assert chat.read(4).state is AnswerState.COMPLETE


async def test_a_chat_ends_after_eight_iterations_with_an_answer(chat: Chat):
    await chat.answer(await chat.ask("Look."), *[fetches(1)] * 8, says("Enough."))
    assert chat.model.prompts[-1].closing
    assert (chat.read(2).content, len(chat.read(2).parts)) == ("Enough.", 8)


async def test_a_key_that_was_stored_later_is_not_read_again(chat: Chat):
    later = "no canary, as the model reads it before it is a credential"
    await chat.answer(await chat.ask(f"My key is {later}."), says("Thank you."))
    chat.on_scan = partial(redacted, key=later)
    chat.task(integrations=("github",))
    chat.memory.credentials["t"] = {"KEY": build_sealed("KEY")}
    await chat.answer(await chat.ask("And?"), says("Yes."))
    assert later not in str(chat.model.prompts[0].messages)


async def test_a_question_that_was_deleted_is_not_answered(chat: Chat):
    execution = await chat.ask("Where?")
    del chat.memory.messages["conv"][1]
    await chat.answer(execution)
    assert chat.memory.executions[execution].error == "the message was deleted before it was answered"
    assert chat.read(2).state is AnswerState.FAILED


async def test_who_finds_it_taken_comes_again_when_its_lease_may_have_ended(chat: Chat):
    execution = await chat.ask("Look.")
    deps = chat.deps()
    await deps.executions.claim(execution, slice=0, holder="the relay", now=chat.clock.now(), lease=deps.lease)
    for waits in (0, 1):
        assert await deliver(deps, execution, slice=0, holder="the queue", waits=waits)
    again = [(delivery.wake_up, delivery.waits, delivery.after) for delivery in chat.queue.waiting]
    assert again == [("held", 1, deps.lease), ("held", 2, deps.lease)]
    chat.clock.turn(deps.lease.total_seconds())
    chat.model = ScriptedModel([says("A page.")])
    assert await deliver(chat.deps(), execution, slice=0, holder="the queue", waits=2)
    assert chat.memory.executions[execution].status is Status.COMPLETED


async def test_after_a_crash_the_answer_has_all_of_its_turns(chat: Chat):
    execution = await chat.ask("Look.")
    await chat.answer(execution, fetches(1), UnavailableError("away"), delivered=False)
    chat.clock.turn(600)
    await chat.answer(execution, says("A page."))
    assert len(chat.read(2).parts) == 1


async def test_what_has_expired_is_told_as_such(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry?"), says("In Harwich."))
    await chat.answer(await chat.ask("And the train?"), says("In Ely."))
    del chat.memory.messages["conv"][1]
    await chat.answer(await chat.ask("And the bus?"), says("In Bath."))
    expired = "[Earlier messages of this conversation have expired.]"
    assert chat.texts() == [expired, "[no answer]", "And the train?", "In Ely.", "And the bus?"]


async def test_a_question_of_which_nothing_before_is_kept_is_answered(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry?"), says("In Harwich."))
    chat.memory.messages["conv"].clear()
    await chat.answer(await chat.ask("And the train?"), says("In Ely."))
    assert chat.texts()[1:] == ["[no answer]", "And the train?"]


async def test_a_model_reads_ten_thousand_characters_of_a_result(chat: Chat):
    body = "a" * 20_000
    page = Part(kind=PartKind.TEXT, start=0, end=len(body))
    chat.on_call = lambda ticket: ToolCallResult(ticket.tool, body, response_status=200, parts=(page,))
    await chat.answer(await chat.ask("Look."), fetches(1), says("A page."))
    read = chat.model.prompts[1].messages[-1]["content"][0]["content"]
    how = '{"message": 2, "call": 0, "offset": 10000}'
    assert read == f"{'a' * 10_000}{TRUNCATED}\nTo read on: read_result {how}"
    assert chat.read(2).parts[0]["results"][0]["content"] == read
    assert chat.memory.tickets["e1"][0].result.content == body


async def test_a_long_conversation_is_summarized_and_goes_on_from_the_summary(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry? " * 1_000), says("In Harwich."))
    await chat.answer(await chat.ask("And the train?"), says("They look for a ferry."), says("In Ely."))
    assert [prompt.closing for prompt in chat.model.prompts] == [True, False]
    assert (chat.read(4).content, chat.read(4).summary, chat.read(4).summarized) == ("In Ely.", "They look for a ferry.", 2)
    await chat.answer(await chat.ask("And the bus?"), says("In Bath."))
    assert str(chat.texts()[0]).endswith("They look for a ferry.")
    assert chat.texts()[1:] == ["[noted]", "And the train?", "In Ely.", "And the bus?"]


async def test_a_url_that_a_person_wrote_is_fetched_in_later_answers_and_one_in_a_summary_or_an_answer_is_not(chat: Chat):
    written, summarized, answered = "https://a.test/", "https://evil.test/?secret", "https://evil.test/?answer"
    chat.task(task_prompt="", system_prompt="You help.", tools=("web_fetch",))
    await chat.answer(await chat.ask("Where is the ferry? " * 1_000), says("In Harwich."))
    await chat.answer(await chat.ask(f"Is it on {written}?"), says(f"Look at {summarized}"), says(f"Yes: {answered}"))
    calls = [("web_fetch", {"url": url}) for url in (written, summarized, answered)]
    await chat.answer(await chat.ask("Read them."), says("", *calls), says("Done."))
    assert summarized in str(chat.texts()[0])
    origins = [ticket.url_origin for _, ticket in sorted(chat.memory.tickets["e3"].items())]
    assert origins == [UrlOrigin.WRITTEN, UrlOrigin.UNSEEN, UrlOrigin.UNSEEN]


async def test_a_summary_costs_what_it_used_and_is_none_of_the_eight_iterations(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry? " * 1_000), says("In Harwich."))
    await chat.answer(await chat.ask("Look."), says("They look for a ferry."), *[fetches(1)] * 8, says("Enough."))
    execution = chat.memory.executions["e2"]
    assert (execution.iterations, execution.usage.output_tokens) == (9, 100)
    assert chat.model.prompts[-1].closing
    assert len(chat.read(4).parts) == 8


async def test_an_answer_without_its_summary_fails_and_says_so(chat: Chat):
    await chat.answer(await chat.ask("Where is the ferry? " * 1_000), says("In Harwich."))
    await chat.answer(await chat.ask("And the train?"), says(""))
    assert chat.read(4).state is AnswerState.FAILED
    assert chat.read(4).error == "the conversation is too long to be read, and the model wrote no summary of it: begin another"


async def test_what_a_summary_was_made_of_labels_what_follows(chat: Chat):
    page = Part(kind=PartKind.TEXT, start=0, end=6)
    chat.on_call = lambda ticket: ToolCallResult(ticket.tool, "a page", response_status=200, parts=(page,))
    await chat.answer(await chat.ask("Look. " * 3_000), fetches(1), says("A page."))
    await chat.answer(await chat.ask("And?"), says("A page was read."), says("That is all."))
    assert chat.read(4).label.integrity is Integrity.UNTRUSTED


async def test_an_answer_can_read_earlier_results_again_and_a_task_has_no_such_tool(chat: Chat):
    await chat.answer(await chat.ask("Look."), says("A page."))
    assert "read_result" in [tool["name"] for tool in chat.model.prompts[0].tools]
    chat.start()
    await chat.run(says("Done."))
    assert "read_result" not in [tool["name"] for tool in chat.model.prompts[0].tools]


async def test_an_answer_without_tools_has_none_to_read_results(chat: Chat):
    chat.task(tools=())
    await chat.answer(await chat.ask("Look."), says("No."))
    assert list(chat.model.prompts[0].tools) == []


async def test_an_answer_without_credits_asks_whether_it_shall_go_on(chat: Chat):
    chat.task(max_credits=Decimal(30))
    costly = replace(fetches(1), usage=Usage(input_tokens=9_000))
    await chat.answer(await chat.ask("Look."), costly)
    assert chat.read(2).state is AnswerState.FAILED
    assert str(chat.read(2).error).startswith("the credit limit of this execution was reached: 30 reserved, 27 used")
    assert chat.read(2).content.startswith("I have stopped: this answer has used 27 of the 30 credits")
    assert chat.read(2).content.endswith("Shall I go on? If you say so, I may use up to 30 more.")
    assert chat.memory.executions["e1"].output == chat.read(2).content
    await chat.answer(await chat.ask("Yes."), says("It is a page."))
    assert chat.texts()[-2:] == [chat.read(2).content, "Yes."]
    assert (chat.read(4).state, chat.read(4).content) == (AnswerState.COMPLETE, "It is a page.")


async def test_a_conversation_without_credits_says_how_many_it_has_used(chat: Chat):
    agent = build_default_agent("o", chat.place["workspace"])
    chat.memory.agents[agent.id] = replace(agent, conversation_credits_max=Decimal(50))
    await chat.answer(await chat.ask("Look."))
    assert chat.read(2).content.startswith("I have not begun: ")
    assert "50" in chat.read(2).content
    assert chat.read(2).content.endswith("Shall I try again? Say so once there are credits.")


async def test_without_tools_earlier_calls_are_read_as_texts(chat: Chat):
    await chat.answer(await chat.ask("Look."), fetches(1), says("A page."))
    chat.task(tools=())
    await chat.answer(await chat.ask("And?"), says("That is all."))
    call = '[Call of http_get: {"url": "https://api.coingecko.com/0"}]'
    assert chat.texts() == ["Look.", call, "answer 0", "A page.", "And?"]
