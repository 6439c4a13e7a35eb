"""Searches of the model: what it finds is listed from then on, and what it read before stays the same bytes."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.found_tools import DEFERRED, write_found
from ferryman.domain.executions.message import canonicalize_prompt, digest_prompt
from ferryman.domain.tasks.task import ToolLoading
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.tool import build_definition
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.loop.limits import SEARCHES_MAX
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import Stage, fetches, says
from tests.replay.conftest import otherwise

DECLARED = [
    DeclaredTool(name=name, description=description, url="https://api.coingecko.com/x")
    for name, description in (
        ("get_weather", "Get the weather forecast of a city."),
        ("send_invoice", "Send an invoice to a customer."),
        ("list_invoices", "List the invoices of a customer."),
    )
]


def define(tool: DeclaredTool) -> dict[str, Any]:
    return build_definition(tool.name, tool.description, tool.schema)


def search(query: str) -> tuple[str, dict[str, Any]]:
    return "find_tools", {"query": query}


@pytest.fixture
async def searching(stage: Stage) -> Stage:
    """Return a stage whose task loads its tools by context, and whose searches find the tools named in the query."""
    await MemoryClusters(stage.memory).put("t", "", DECLARED, since=0)
    stage.task(tool_loading=ToolLoading.CONTEXT_AWARE)

    def on_call(ticket: Ticket) -> ToolCallResult:
        words = str(ticket.display_arguments.get("query", "")).split()
        matches = [define(tool) for tool in DECLARED if tool.name in words]
        return ToolCallResult(ticket.tool, write_found(matches) if matches else "none")

    stage.on_call = on_call
    return stage


def list_names(prompt: Any) -> list[str]:
    return [tool["name"] for tool in prompt.tools]


async def test_the_search_is_offered_and_allowed_where_tools_are_loaded_by_context(searching: Stage) -> None:
    await searching.run(says("done"))
    assert list_names(searching.model.prompts[0]) == ["api_call", "http_get", "find_tools"]
    assert "find_tools" in searching.execution.policy.tools


async def test_all_tools_are_shown_without_it_by_default(searching: Stage) -> None:
    searching.task(tool_loading=ToolLoading.ALL)
    await searching.run(says("done"))
    assert {"send_invoice", "get_weather"} < set(list_names(searching.model.prompts[0]))
    assert "find_tools" not in searching.execution.policy.enabled


async def test_what_is_found_is_listed_from_the_next_turn_on_and_can_be_called(searching: Stage) -> None:
    await searching.run(says("", search("send_invoice")), says("", ("send_invoice", {})), says("done"))
    first, second, third = searching.model.prompts
    assert list_names(second) == list_names(third) == [*list_names(first), "send_invoice"]
    (result,) = second.messages[-1]["content"]
    assert result["content"] == [{"type": "tool_reference", "tool_name": "send_invoice"}]
    assert [ticket.tool for ticket in searching.executed] == ["find_tools", "send_invoice"]


async def test_what_the_provider_has_cached_stays_the_same_bytes(searching: Stage) -> None:
    await searching.run(
        *(says("", search("send_invoice")), fetches(), says("", search("get_weather list_invoices")), fetches(2), says("done"))
    )
    prefixes = []
    for prompt in searching.model.prompts:
        tools = [tool for tool in prompt.tools if DEFERRED not in tool]  # the others are not in the prompt's beginning
        prefixes.append(json.dumps([tools, prompt.system, list(prompt.messages)]).removesuffix("]]"))
    assert all(later.startswith(earlier) for earlier, later in pairwise(prefixes))
    assert list_names(searching.model.prompts[-1])[-3:] == ["send_invoice", "get_weather", "list_invoices"]


async def test_the_digest_of_a_turn_covers_what_was_found(searching: Stage) -> None:
    await searching.run(says("", search("send_invoice")), says("done"))
    prompt, step = searching.model.prompts[1], searching.memory.steps["e"][2]
    assert step.prompt_digest == digest_prompt(canonicalize_prompt(prompt.system, prompt.tools, prompt.messages))


async def test_a_search_costs_no_credits_and_counts_against_no_limit(searching: Stage) -> None:
    await searching.run(says("", search("send_invoice"), tokens=0), says("done", tokens=0))
    assert (searching.execution.credits_used, searching.execution.tool_calls_total) == (0, 1)


async def test_after_a_crash_the_same_tools_are_listed(searching: Stage) -> None:
    await searching.run(says("", search("send_invoice")), UnavailableError("it is busy"))
    before = searching.model.prompts[1]
    searching.clock.turn(600)
    await searching.run(says("done"))
    (after,) = searching.model.prompts
    assert (list_names(after)[-1], after.tools, after.messages) == ("send_invoice", before.tools, before.messages)


async def test_a_replay_lists_the_same_tools(searching: Stage) -> None:
    await searching.run(says("", search("send_invoice")), says("", ("send_invoice", {})), says("done"))
    assert await otherwise(searching) == []


async def test_an_execution_searches_so_often_and_no_more(searching: Stage) -> None:
    await searching.run(says("", *[search(f"nothing {number}") for number in range(SEARCHES_MAX + 1)]), says("done"))
    assert len(searching.executed) == SEARCHES_MAX
    assert searching.results[-1].content == f"Error: an execution may search for tools at most {SEARCHES_MAX} times"
