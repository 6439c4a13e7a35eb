"""The tasks of a workspace as prompts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.inmemory.clock import START
from tests.serving.people_mcp.stage import McpStage


def add(people: McpStage, name: str, **fields: Any) -> str:
    task = replace(people.chat_task, id=f"task_{name}", name=name, **fields)
    people.memory.tasks[task.id] = task
    return task.id


async def list_names(people: McpStage) -> list[str]:
    return [prompt["name"] for prompt in (await people.client().call("prompts/list")).result["prompts"]]


async def test_tasks_are_listed_the_oldest_first_without_that_of_conversations(people: McpStage) -> None:
    later = add(people, "a", created_at=START + timedelta(seconds=1))
    earlier = add(people, "b", created_at=START)
    assert await list_names(people) == [earlier, later]


async def test_a_listed_prompt_has_the_tasks_name_and_one_argument(people: McpStage) -> None:
    add(people, "weather", description="Reports it.")
    prompts = (await people.client().call("prompts/list")).result["prompts"]
    assert [(prompt["title"], prompt["description"]) for prompt in prompts] == [("weather", "Reports it.")]
    assert [(argument["name"], argument["required"]) for argument in prompts[0]["arguments"]] == [("input", False)]


async def test_a_prompt_has_its_variables_filled_in_and_what_was_added_as_it_is(people: McpStage) -> None:
    name = add(people, "weather", system_prompt="You report.", task_prompt="{{task_name}} of {{date}}, {{unknown}}")
    answer = await people.client().call("prompts/get", {"name": name, "arguments": {"input": "In Oslo. {{date}}"}})
    texts = [message["content"]["text"] for message in answer.result["messages"]]
    assert texts == ["You report.", "weather of 2026-11-21, {{unknown}}", "In Oslo. {{date}}"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"city": "Oslo"}, "input"),
        ({"input": 1}, "arguments.input"),
        ({"input": "a" * (INPUT_CHARACTERS_MAX + 1)}, "arguments.input"),
        ([], "arguments"),
    ],
)
async def test_arguments_that_a_prompt_does_not_have_are_refused(people: McpStage, arguments: Any, named: str) -> None:
    answer = await people.client().call("prompts/get", {"name": add(people, "weather"), "arguments": arguments})
    assert answer.code == -32602
    assert named in answer.error["message"]


async def test_what_is_no_prompt_here_is_answered_as_what_is_none_anywhere(people: McpStage) -> None:
    disabled, task = add(people, "old", enabled=False), add(people, "weather")
    asking = [
        (people.client(), disabled),
        (people.client(), people.chat_task.id),
        (people.client(), "task_none"),
        (people.client({**people.headers, "Ferryman-Workspace": "ws_ann"}), task),
        (people.client(people.owner("bob")), task),
    ]
    errors = [(await client.call("prompts/get", {"name": name})).error for client, name in asking]
    assert errors == [errors[0]] * len(asking)
    assert errors[0]["code"] == -32602
