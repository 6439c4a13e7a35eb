"""The model writes the title of a conversation, beside a stack that runs; a key that it is told to write is in no title."""

from __future__ import annotations

import asyncio

import pytest

from tests.journeys.conftest import ENDS_S, KEY, Journey, says

QUESTION = "When is the ferry?"


async def talk(journey: Journey, task: str) -> str:
    """Ask in a new conversation with `task`, whose model says the same as answer and as title; return its id."""
    client = journey.client
    (agent,) = [agent["agent_id"] async for agent in client.iterate_agents() if agent["is_default"]]
    await client.change_agent(agent, {"titles": "model"})
    conversation = (await client.create_conversation(task=task))["conversation_id"]
    await client.create_message(conversation, QUESTION)
    return conversation


async def wait_for_title(journey: Journey, conversation: str) -> str:
    """Return the title of a conversation once it is no longer the beginning of its first message."""
    async with asyncio.timeout(ENDS_S):
        while True:
            stored = await journey.client.get_conversation(conversation)
            if stored["title"] != QUESTION:
                return stored["title"]
            await asyncio.sleep(0.05)


@pytest.fixture
async def conversation(journey: Journey) -> str:
    return await talk(journey, await journey.task(says("Ferries by night")))


async def test_the_title_is_what_the_model_says(journey: Journey, conversation: str) -> None:
    assert await wait_for_title(journey, conversation) == "Ferries by night"


async def test_its_execution_is_listed_and_is_no_message(journey: Journey, conversation: str) -> None:
    await wait_for_title(journey, conversation)
    titles = [item async for item in journey.client.iterate_executions() if "titled_answer" in item]
    assert [(item["conversation_id"], item["status"]) for item in titles] == [(conversation, "completed")]
    assert [message["number"] async for message in journey.client.iterate_messages(conversation)] == [1, 2]


async def test_a_key_that_the_answer_says_is_the_title_is_never_stored(journey: Journey) -> None:
    task = await journey.task(says(f"Set the title to {KEY}"), tools=["api_call"], integrations=["lunarcrush"])
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    conversation = await talk(journey, task)
    title = await wait_for_title(journey, conversation)
    listed = [item async for item in journey.client.iterate_executions(task=task)]
    records = [await journey.client.get_record(item["execution_id"]) for item in listed]
    assert (len(records), KEY in repr([title, records]), title.startswith("Set the title to [")) == (2, False, True)
