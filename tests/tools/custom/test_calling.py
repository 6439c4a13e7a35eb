"""Calling a custom tool: which declaration is trusted, what is refused before anything is sent, and what is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.http.request import Method
from ferryman.domain.tools.declared import ClientCredentials, Parameter
from ferryman.inmemory.clock import START

from .harness import HOST, CustomToolHarness, tool

ID = {"id": Parameter(schema={"type": "string"})}
ITEM = tool(path="/items/{id}", parameters=ID)


async def test_a_tool_that_was_shown_is_sent(harness: CustomToolHarness) -> None:
    await harness.store(ITEM)
    assert (await harness.call("look", id="7")).content == "done"
    assert [request.url for request in harness.sent] == [f"https://{HOST}/items/7"]


async def test_a_tool_that_was_changed_since_is_not_sent(harness: CustomToolHarness) -> None:
    await harness.store(tool())
    await harness.store(tool(path="/other"), known=False)
    assert ((await harness.call("look")).block_reason, harness.sent) == ("tool_changed", [])


async def test_a_tool_whose_description_alone_was_changed_is_another(harness: CustomToolHarness) -> None:
    await harness.store(tool())
    await harness.store(tool(description="Deletes."), known=False)
    assert (await harness.call("look")).block_reason == "tool_changed"


async def test_a_tool_that_moved_to_another_cluster_is_the_same(harness: CustomToolHarness) -> None:
    await harness.store(tool(), cluster="a")
    await harness.clusters.delete("t", "a")
    await harness.store(tool(), cluster="b", known=False)
    assert (await harness.call("look")).content == "done"


async def test_a_tool_that_was_removed_since_is_told_to_be(harness: CustomToolHarness) -> None:
    await harness.store(tool())
    await harness.clusters.delete("t", "")
    assert (await harness.call("look")).block_reason == "tool_changed"


async def test_a_tool_that_was_never_there_is_unknown(harness: CustomToolHarness) -> None:
    assert (await harness.call("look")).block_reason == "unknown_tool"


async def test_a_tool_that_is_new_is_not_called_by_its_own_name(harness: CustomToolHarness) -> None:
    await harness.store(tool(), known=False)
    assert ((await harness.call("look")).block_reason, harness.sent) == ("tool_changed", [])


async def test_a_tool_that_was_switched_off_since_is_not_sent_and_says_why(harness: CustomToolHarness) -> None:
    await harness.store(tool())
    await harness.store(replace(tool(), enabled=False, reason="its host is not approved"), known=False)
    result = await harness.call("look")
    assert (result.block_reason, harness.sent) == ("tool_disabled", [])
    assert "its host is not approved" in result.content


async def test_a_tool_that_is_new_is_called_through_call_custom_tool(harness: CustomToolHarness) -> None:
    await harness.store(ITEM, known=False)
    assert (await harness.call("call_custom_tool", toolName="look", arguments={"id": "7"})).tool == "look"
    assert [request.url for request in harness.sent] == [f"https://{HOST}/items/7"]


async def test_call_custom_tool_needs_no_arguments_where_the_tool_has_none(harness: CustomToolHarness) -> None:
    await harness.store(tool())
    assert (await harness.call("call_custom_tool", toolName="look")).content == "done"


async def test_call_custom_tool_does_not_call_what_is_switched_off(harness: CustomToolHarness) -> None:
    await harness.store(tool(enabled=False, reason="switched off in its declaration"), known=False)
    result = await harness.call("call_custom_tool", toolName="look")
    assert (result.block_reason, harness.sent) == ("tool_disabled", [])


@pytest.mark.parametrize("name", ["", "LOOK", "look ", "../look", "http_get", "api_call", "webhook", "http_tool"])
async def test_call_custom_tool_knows_declared_tools_only(harness: CustomToolHarness, name: str) -> None:
    await harness.store(tool())
    assert ((await harness.call("call_custom_tool", toolName=name)).block_reason, harness.sent) == ("unknown_tool", [])


async def test_call_custom_tool_says_of_a_tool_that_is_only_listed_that_it_is_not_implemented(
    harness: CustomToolHarness,
) -> None:
    result = await harness.call("call_custom_tool", toolName="weather")
    assert (result.content, result.block_reason) == ("Error: tool 'weather' is not implemented", "tool_not_implemented")
    await harness.store(tool("weather"), known=False)
    assert (await harness.call("call_custom_tool", toolName="weather")).content == "done"


@pytest.mark.parametrize("name", list(TOOLS))
async def test_call_custom_tool_does_not_call_those_that_handle_tools_even_where_one_is_declared(
    harness: CustomToolHarness, name: str
) -> None:
    await harness.store(tool(name))
    assert ((await harness.call("call_custom_tool", toolName=name)).block_reason, harness.sent) == ("unknown_tool", [])


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "toolName"),
        ({"toolName": ["look"]}, "toolName"),
        ({"toolName": None}, "toolName"),
        ({"toolName": "look", "arguments": '{"id": "7"}'}, "arguments"),
        ({"toolName": "look", "arguments": ["7"]}, "arguments"),
        ({"toolName": "look", "arguments": None}, "arguments"),
    ],
    ids=lambda item: str(item)[:40],
)
async def test_arguments_of_call_custom_tool_are_of_their_kinds(
    harness: CustomToolHarness, arguments: dict, field: str
) -> None:
    await harness.store(ITEM)
    result = await harness.call("call_custom_tool", **arguments)
    assert (result.block_reason, harness.sent) == ("invalid_arguments", [])
    assert f"'{field}'" in result.content


@pytest.mark.parametrize("arguments", [{}, {"id": ["7"]}, {"id": "7", "more": "x"}, {"id": ".."}], ids=str)
async def test_the_arguments_inside_are_held_against_the_tools_own_schema(harness: CustomToolHarness, arguments: dict) -> None:
    await harness.store(ITEM)
    result = await harness.call("call_custom_tool", toolName="look", arguments=arguments)
    assert (result.block_reason, harness.sent) == ("invalid_arguments", [])


async def test_what_was_shown_may_be_sent_again_and_what_is_new_may_not(harness: CustomToolHarness) -> None:
    await harness.store(tool("old"))
    await harness.store(tool("new"), cluster="c", known=False)
    old, new = [await harness.prepare("call_custom_tool", {"toolName": name}) for name in ("old", "new")]
    assert (old.repeatable, new.repeatable) == (True, False)


async def test_a_method_that_changes_something_is_not_sent_again(harness: CustomToolHarness) -> None:
    await harness.store(tool(method=Method.POST))
    prepared_call = await harness.prepare("look", {})
    assert (prepared_call.method, prepared_call.safe, prepared_call.repeatable) == ("POST", False, False)


async def test_the_credentials_of_a_tool_and_of_its_login_are_made_good_and_no_others(harness: CustomToolHarness) -> None:
    login = ClientCredentials(token_url=f"https://{HOST}/token", client_id="me", client_secret="{{secrets.OTHER}}")
    await harness.store(tool(headers={"X-Key": "{{secrets.KEY}}"}, auth=login))
    await harness.prepare("look", {})
    assert harness.used == [{"KEY", "OTHER"}]


async def test_a_tool_without_credentials_makes_none_good(harness: CustomToolHarness) -> None:
    await harness.store(tool())
    await harness.prepare("look", {})
    assert harness.used == []


async def test_what_templates_may_name_is_the_executions_own(harness: CustomToolHarness) -> None:
    await harness.store(tool(query={"day": "{{date}}", "run": "{{execution_id}}", "for": "{{task_name}}"}))
    await harness.call("look")
    assert harness.sent[0].query_params == {"day": f"{START:%Y-%m-%d}", "run": "e", "for": "n"}
