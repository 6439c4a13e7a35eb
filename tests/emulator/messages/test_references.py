"""References to tools in results: each to a tool that is listed, and not every tool deferred."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from tests.emulator.messages.test_messages import ASK, claude, messages, url  # noqa: F401 - fixtures

SEARCH = {"name": "find_tools", "description": "Finds.", "input_schema": {"type": "object"}}
LOOK = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}, "defer_loading": True}
REFERENCE = {"type": "tool_reference", "tool_name": "look"}


def ask(*tools: dict[str, Any]) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "c", "content": [REFERENCE]}
    called = {"type": "tool_use", "id": "c", "name": "find_tools", "input": {"query": "look"}}
    turns = [{"role": "assistant", "content": [called]}, {"role": "user", "content": [result]}]
    return {**ASK, "tools": list(tools), "messages": [*ASK["messages"], *turns]}


async def test_a_tool_that_is_listed_may_be_referred_to(claude: anthropic.AsyncAnthropic, messages: Any) -> None:  # noqa: F811
    messages.put("finder", {"steps": [{"text": "Later."}, {"text": "Found."}]})
    reply = await claude.messages.create(**{**ask(SEARCH, LOOK), "model": "scripted/finder"})
    assert reply.content[0].to_dict() == {"type": "text", "text": "Found."}


@pytest.mark.parametrize(
    ("tools", "expected"),
    [((SEARCH,), "Tool reference 'look' has no corresponding tool definition"), ((LOOK,), "At least one tool must be")],
    ids=["not listed", "all deferred"],
)
async def test_other_references_are_refused(
    claude: anthropic.AsyncAnthropic,  # noqa: F811
    tools: tuple[dict[str, Any], ...],
    expected: str,
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=expected):
        await claude.messages.create(**ask(*tools))
