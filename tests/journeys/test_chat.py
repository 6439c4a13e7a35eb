"""People who talk with agents, over HTTP, with both clients and in the terminal, beside a stack that runs."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from ferryman.client import AsyncClient, Client
from ferryman.stack.hello import CHAT_ANSWER
from tests.journeys.conftest import ENDS_S, NewKey
from tests.journeys.terminal import Terminal

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/chat/serve.py"
MODEL = "scripted/chat"
EVENTS = ["start", "thinking", "usage", "tool_call", "tool_result", "thinking", "usage", "done"]


@dataclass(frozen=True, kw_only=True)
class Talker:
    """A new owner who talks with agents."""

    url: str
    key: str = field(repr=False)
    client: AsyncClient


@pytest.fixture
async def talker(stack: Mapping[str, Any], new_key: NewKey) -> AsyncIterator[Talker]:
    key = await new_key("pro")
    async with AsyncClient(stack["url"], key, workspace="") as client:
        yield Talker(url=stack["url"], key=key, client=client)


async def test_an_answer_streams_with_its_calls_and_the_next_one_follows_it(talker: Talker) -> None:
    client = talker.client
    conversation = (await client.create_conversation(title="Sums"))["conversation_id"]
    events = [event async for event in client.stream_message(conversation, "What is it?", model=MODEL)]
    kinds = [event.kind for event in events if event.kind not in ("content", "tool_call_delta")]
    text = "".join(event.body["content"] for event in events if event.kind == "content")
    assert (kinds, text) == (EVENTS, f"Let me work that out.{CHAT_ANSWER}")
    again = await client.create_message(conversation, "And now?", model=MODEL)
    assert again["assistantMessage"]["content"] == CHAT_ANSWER
    assert [call["name"] for call in again["assistantMessage"]["toolCalls"]] == ["calculator"]
    assert [message["number"] async for message in client.iterate_messages(conversation)] == [1, 2, 3, 4]


async def test_the_client_that_blocks_streams_and_asks_for_another_answer(talker: Talker) -> None:
    conversation = (await talker.client.create_conversation())["conversation_id"]

    def talk() -> list[str]:
        with Client(talker.url, talker.key) as client:
            first = list(client.stream_message(conversation, "What is it?", model=MODEL))
            other = list(client.stream_other_answer(conversation, 2, model=MODEL))
            return [first[-1].body["content"], other[-1].body["content"]]

    assert await asyncio.to_thread(talk) == [CHAT_ANSWER, CHAT_ANSWER]
    assert (await talker.client.get_conversation(conversation))["head"] == 3


def test_a_message_through_a_pipe_is_answered_and_the_conversation_is_exported(talker: Talker) -> None:
    terminal = Terminal(variables={"FERRYMAN_URL": talker.url, "FERRYMAN_KEY": talker.key})
    ran = terminal.type(f"chat - --model {MODEL} --json", "What is it?")
    start, *_, done = (json.loads(line) for line in ran.out.splitlines())
    assert (ran.code, done["state"], done["content"]) == (0, "complete", CHAT_ANSWER)
    exported = terminal.type(f"chat --conversation {start['conversationId']} --export")
    assert exported.out.startswith("# What is it?\n\n## 1. You")
    assert "<details><summary>calculator</summary>" in exported.out


async def test_the_page_of_the_examples_is_sent_an_answer_as_it_is_written(talker: Talker) -> None:
    (agent,) = [agent["agent_id"] async for agent in talker.client.iterate_agents() if agent["is_default"]]
    variables = {"FERRYMAN_URL": talker.url, "FERRYMAN_KEY": talker.key}
    words = [sys.executable, str(EXAMPLE), agent, "--model", MODEL, "--port", "0"]
    page = await asyncio.create_subprocess_exec(*words, env=variables, stdout=PIPE, stderr=DEVNULL)
    try:
        assert page.stdout is not None
        url = (await page.stdout.readline()).decode().strip()
        async with httpx.AsyncClient(timeout=ENDS_S) as browser:
            html = (await browser.get(url)).content
            body = {"content": "What is it?", "conversationId": None, "stream": True}
            stream = (await browser.post(f"{url}/chat", json=body)).text
            of_others = [{"Content-Type": "text/plain"}, {"Host": "evil.test"}, {"Content-Type": "application/json; x"}]
            refused = [(await browser.post(f"{url}/chat", json=body, headers=headers)).status_code for headers in of_others]
    finally:
        page.kill()
        await page.wait()
    assert refused == [403] * 3
    assert html == EXAMPLE.with_name("index.html").read_bytes()
    assert len(html.splitlines()) <= 30
    frames = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: ")]
    assert (frames[0]["type"], frames[-1]["content"]) == ("start", CHAT_ANSWER)
