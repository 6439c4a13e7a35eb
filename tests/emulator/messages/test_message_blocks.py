"""Blocks of any type in a script: sent as they are, known again when they come back, and a paused turn goes on."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from emulator.messages import Messages
from emulator.messages.script import sign
from tests.emulator.messages.test_messages import ASK, claude, messages, url  # noqa: F401 - fixtures

THOUGHT = {"type": "thinking", "thinking": "Let me see."}
SIGNED = {**THOUGHT, "signature": sign(THOUGHT["thinking"])}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}


@pytest.fixture
def thinker(messages: Messages) -> dict[str, Any]:  # noqa: F811 - a fixture by its name
    messages.put("thinker", {"steps": [{"blocks": [THOUGHT, SEARCH], "stop_reason": "pause_turn"}, {"text": "It rains."}]})
    return {**ASK, "model": "scripted/thinker"}


def answer_with(ask: dict[str, Any], *blocks: dict[str, Any]) -> dict[str, Any]:
    return {**ask, "messages": [*ask["messages"], {"role": "assistant", "content": list(blocks)}]}


async def test_a_thought_gets_a_signature(claude: anthropic.AsyncAnthropic, thinker: dict[str, Any]) -> None:  # noqa: F811
    reply = await claude.messages.create(**thinker)
    assert [block.to_dict() for block in reply.content] == [SIGNED, SEARCH]


async def test_a_paused_turn_goes_on(claude: anthropic.AsyncAnthropic, thinker: dict[str, Any]) -> None:  # noqa: F811
    reply = await claude.messages.create(**answer_with(thinker, SIGNED, SEARCH))
    assert reply.content[0].to_dict() == {"type": "text", "text": "It rains."}


async def test_a_thought_that_comes_back_changed_is_refused(
    claude: anthropic.AsyncAnthropic,  # noqa: F811
    thinker: dict[str, Any],
) -> None:
    changed = {**SIGNED, "thinking": "Let me not see."}
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature` in `thinking` block"):
        await claude.messages.create(**answer_with(thinker, changed, SEARCH))
