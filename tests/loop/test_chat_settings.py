"""The settings of a conversation's answers: which tools the model is offered, and which model is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.conversations.asking import Question
from ferryman.domain.workspaces.agent import build_default_agent
from tests.builders import build_execution
from tests.loop.conftest import says
from tests.loop.test_chat import Chat

TOOLS = ("calculator", "http_get")


@pytest.fixture
def chat() -> Chat:
    stage = Chat()
    stage.task(task_prompt="", system_prompt="You help.", tools=TOOLS)
    return stage


def set_agent(chat: Chat, **fields: Any) -> None:
    place = chat.memory.conversations["conv"]
    chat.memory.agents[place.agent] = replace(build_default_agent(place.owner, place.workspace), **fields)


async def list_offered(chat: Chat, **fields: Any) -> list[str]:
    """Ask with these fields of the execution, and return the names of the tools that the model is offered.

    What reads earlier results again comes with any of them, and is left out.
    """
    chat.count += 1
    execution = build_execution(id=f"e{chat.count}", conversation="conv", input="And?", **fields)
    await chat.conversations.ask(chat.memory.conversations["conv"], Question(content="And?"), execution, most=9)
    await chat.answer(execution.id, says("Yes."))
    return sorted({tool["name"] for tool in chat.model.prompts[0].tools} - {"read_result"})


async def test_an_answer_has_the_tools_of_its_task_by_default(chat: Chat) -> None:
    assert await list_offered(chat) == sorted(TOOLS)


async def test_a_request_switches_tools_off_for_its_answer_alone(chat: Chat) -> None:
    assert await list_offered(chat, enable_tools=False) == []
    assert await list_offered(chat) == sorted(TOOLS)


async def test_an_agent_s_settings_switch_tools_off(chat: Chat) -> None:
    set_agent(chat, tools_enabled=False)
    assert await list_offered(chat) == []


async def test_an_agent_s_settings_name_the_tools_of_conversations(chat: Chat) -> None:
    set_agent(chat, enabled_tools=("calculator", "web_fetch"))
    assert await list_offered(chat) == ["calculator"]


async def test_an_empty_list_of_an_agent_s_tools_means_none(chat: Chat) -> None:
    set_agent(chat, enabled_tools=())
    assert await list_offered(chat) == []


async def test_a_request_does_not_switch_on_what_the_settings_switch_off(chat: Chat) -> None:
    set_agent(chat, tools_enabled=False, enabled_tools=TOOLS)
    assert await list_offered(chat, enable_tools=True) == []


async def test_a_tool_that_is_switched_off_is_refused_to_a_model_that_calls_it_all_the_same(chat: Chat) -> None:
    chat.count += 1
    execution = build_execution(id="e1", conversation="conv", input="And?", enable_tools=False)
    await chat.conversations.ask(chat.memory.conversations["conv"], Question(content="And?"), execution, most=9)
    await chat.answer("e1", says("", ("calculator", {"expression": "6 * 7"})), says("No."))
    (row,) = chat.memory.executions["e1"].tool_calls
    assert (chat.executed, row.blocked, "is not enabled" in row.content) == ([], True, True)


async def test_the_settings_of_conversations_hold_in_no_other_execution(chat: Chat) -> None:
    set_agent(chat, tools_enabled=False)
    chat.memory.executions["task"] = build_execution(id="task", input="And?")
    await chat.answer("task", says("Yes."))
    assert sorted(tool["name"] for tool in chat.model.prompts[0].tools) == sorted(TOOLS)


async def test_a_request_names_the_model_of_its_answer(chat: Chat) -> None:
    await list_offered(chat, model="scripted/other")
    assert chat.model.prompts[0].model == "scripted/other"
    assert (await list_offered(chat), chat.model.prompts[0].model) == (sorted(TOOLS), "scripted/x")


async def test_a_person_may_ask_about_what_no_task_may_do(chat: Chat) -> None:
    question = "How does a reverse shell work, and how do I keep xmrig off my servers?"
    execution = build_execution(id="e1", conversation="conv", input=question)
    await chat.conversations.ask(chat.memory.conversations["conv"], Question(content=question), execution, most=9)
    await chat.answer("e1", says("Like this."))
    assert [prompt.messages[-1]["content"] for prompt in chat.model.prompts] == [question]


async def test_a_task_that_asks_for_abuse_answers_nobody(chat: Chat) -> None:
    chat.task(task_prompt="start xmrig", tools=TOOLS)
    execution = build_execution(id="e1", conversation="conv", input="And?")
    await chat.conversations.ask(chat.memory.conversations["conv"], Question(content="And?"), execution, most=9)
    await chat.answer("e1", says("never"))
    assert chat.model.prompts == []
