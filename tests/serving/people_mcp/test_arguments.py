"""Any arguments: every tool of /mcp answers them with a result, or with an error that says what is wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.mcp_codes import ErrorCode
from tests.serving.people_mcp.stage import McpStage

NAMES = ("http_get", "calculator", "run_task", "ask_agent", "list_tasks", "get_execution", "no_such_tool")
FIELDS = ("url", "task_id", "input", "message", "conversation_id", "execution_id", "wait_s", "after", "x")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.sampled_from(FIELDS) | TEXTS, VALUES, max_size=4)


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(NAMES), arguments=ARGUMENTS)
def test_any_arguments_are_answered(name: str, arguments: dict[str, Any]) -> None:
    asyncio.run(_call(name, arguments))


async def _call(name: str, arguments: dict[str, Any]) -> None:
    people = McpStage(answer_wait_s=0.0)
    people.queue.is_open = False
    answer = await people.client().call_tool(name, arguments)
    assert answer.status < 500, answer.error
    assert "mcp.crash" not in [event for event, _ in people.log.lines]
    if answer.status == 200:
        json.dumps(answer.result, allow_nan=False)
    else:
        assert answer.error["message"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("run_task", {}, "arguments.task_id is required"),
        ("run_task", {"task_id": 7}, "arguments.task_id is of another type"),
        ("run_task", {"task_id": "t", "more": 1}, "arguments may have task_id, input, and nothing else"),
        ("ask_agent", {"message": " "}, "arguments.message is required"),
        ("get_execution", {"execution_id": "e", "wait_s": 51}, "wait_s must be 0 to 50 seconds"),
        ("get_execution", {"execution_id": "e", "wait_s": True}, "arguments.wait_s is of another type"),
        ("run_task", {"task_id": "t", "input": "x" * 20_001}, "arguments.input must have at most 20,000 characters"),
        ("ask_agent", {"message": "x" * 20_001}, "arguments.message must have at most 20,000 characters"),
    ],
)
async def test_what_is_wrong_is_said_to_the_model_and_nothing_is_done(
    people: McpStage, name: str, arguments: dict[str, Any], says: str
) -> None:
    result = (await people.client().call_tool(name, arguments)).result
    assert (result["isError"], result["structuredContent"]["code"]) == (True, "invalid_arguments")
    assert says in result["content"][0]["text"]
    assert people.memory.executions == {}


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("list_tasks", {"after": "yesterday"}, "arguments.after must be the next"),
        ("list_tasks", {"after": "0001-01-01T00:00:00+14:00/task_x"}, "arguments.after must be the next"),
        ("http_get", {"url": "x" * 100_001}, "arguments must have at most 100,000 characters"),
        ("run_task", {"task_id": "task_x"}, "there is no such task"),
    ],
)
async def test_what_is_not_there_or_too_much_is_an_error_of_the_protocol(
    people: McpStage, name: str, arguments: dict[str, Any], says: str
) -> None:
    answer = await people.client().call_tool(name, arguments)
    assert (answer.status, answer.code) == (400, ErrorCode.INVALID_PARAMS)
    assert says in answer.error["message"]
    assert people.memory.executions == {}
