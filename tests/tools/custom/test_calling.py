"""Calling a custom tool: which declaration is believed, what is refused before anything is sent, and what is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.http.request import Method
from ferryman.domain.tools.declared import ClientCredentials, Parameter
from ferryman.inmemory.clock import START
from ferryman.tools.declared.definitions import CUSTOM

from .desk import HOST, Desk, tool

ID = {"id": Parameter(schema={"type": "string"})}
ITEM = tool(path="/items/{id}", parameters=ID)


async def test_a_tool_that_was_shown_is_sent(desk: Desk) -> None:
    await desk.has(ITEM)
    assert (await desk.call("look", id="7")).content == "done"
    assert [each.url for each in desk.sent] == [f"https://{HOST}/items/7"]


async def test_a_tool_that_was_changed_since_is_not_sent(desk: Desk) -> None:
    await desk.has(tool())
    await desk.has(tool(path="/other"), shown=False)
    assert ((await desk.call("look")).block_reason, desk.sent) == ("tool_changed", [])


async def test_a_tool_whose_description_alone_was_changed_is_another(desk: Desk) -> None:
    await desk.has(tool())
    await desk.has(tool(description="Deletes."), shown=False)
    assert (await desk.call("look")).block_reason == "tool_changed"


async def test_a_tool_that_moved_to_another_cluster_is_the_same(desk: Desk) -> None:
    await desk.has(tool(), cluster="a")
    await desk.clusters.delete("t", "a")
    await desk.has(tool(), cluster="b", shown=False)
    assert (await desk.call("look")).content == "done"


async def test_a_tool_that_was_removed_since_is_told_to_be(desk: Desk) -> None:
    await desk.has(tool())
    await desk.clusters.delete("t", "")
    assert (await desk.call("look")).block_reason == "tool_changed"


async def test_a_tool_that_was_never_there_is_unknown(desk: Desk) -> None:
    assert (await desk.call("look")).block_reason == "unknown_tool"


async def test_a_tool_that_is_new_is_not_called_by_its_own_name(desk: Desk) -> None:
    await desk.has(tool(), shown=False)
    assert ((await desk.call("look")).block_reason, desk.sent) == ("tool_changed", [])


async def test_a_tool_that_was_switched_off_since_is_not_sent_and_says_why(desk: Desk) -> None:
    await desk.has(tool())
    await desk.has(replace(tool(), enabled=False, reason="its host is not approved"), shown=False)
    result = await desk.call("look")
    assert (result.block_reason, desk.sent) == ("tool_disabled", [])
    assert "its host is not approved" in result.content


async def test_a_tool_that_is_new_is_called_through_call_custom_tool(desk: Desk) -> None:
    await desk.has(ITEM, shown=False)
    assert (await desk.call("call_custom_tool", toolName="look", arguments={"id": "7"})).tool == "look"
    assert [each.url for each in desk.sent] == [f"https://{HOST}/items/7"]


async def test_call_custom_tool_needs_no_arguments_where_the_tool_has_none(desk: Desk) -> None:
    await desk.has(tool())
    assert (await desk.call("call_custom_tool", toolName="look")).content == "done"


async def test_call_custom_tool_does_not_call_what_is_switched_off(desk: Desk) -> None:
    await desk.has(tool(enabled=False, reason="switched off in its declaration"), shown=False)
    result = await desk.call("call_custom_tool", toolName="look")
    assert (result.block_reason, desk.sent) == ("tool_disabled", [])


@pytest.mark.parametrize("name", ["", "LOOK", "look ", "../look", "http_get", "api_call", "webhook", "http_tool"])
async def test_call_custom_tool_knows_declared_tools_only(desk: Desk, name: str) -> None:
    await desk.has(tool())
    assert ((await desk.call("call_custom_tool", toolName=name)).block_reason, desk.sent) == ("unknown_tool", [])


@pytest.mark.parametrize("name", [each.name for each in CUSTOM])
async def test_call_custom_tool_does_not_call_those_that_handle_tools_even_where_one_is_declared(desk: Desk, name: str) -> None:
    await desk.has(tool(name))
    assert ((await desk.call("call_custom_tool", toolName=name)).block_reason, desk.sent) == ("unknown_tool", [])


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "toolName"),
        ({"toolName": ["look"]}, "toolName"),
        ({"toolName": None}, "toolName"),
        ({"toolName": "look", "arguments": '{"id": "7"}'}, "arguments"),
        ({"toolName": "look", "arguments": ["7"]}, "arguments"),
        ({"toolName": "look", "arguments": None}, "arguments"),
    ],
    ids=lambda each: str(each)[:40],
)
async def test_arguments_of_call_custom_tool_are_of_their_kinds(desk: Desk, said: dict, field: str) -> None:
    await desk.has(ITEM)
    result = await desk.call("call_custom_tool", **said)
    assert (result.block_reason, desk.sent) == ("invalid_arguments", [])
    assert f"'{field}'" in result.content


@pytest.mark.parametrize("said", [{}, {"id": ["7"]}, {"id": "7", "more": "x"}, {"id": ".."}], ids=str)
async def test_the_arguments_inside_are_held_against_the_tools_own_schema(desk: Desk, said: dict) -> None:
    await desk.has(ITEM)
    result = await desk.call("call_custom_tool", toolName="look", arguments=said)
    assert (result.block_reason, desk.sent) == ("invalid_arguments", [])


async def test_what_was_shown_may_be_sent_again_and_what_is_new_may_not(desk: Desk) -> None:
    await desk.has(tool("old"))
    await desk.has(tool("new"), cluster="c", shown=False)
    old, new = [await desk.prepared_call("call_custom_tool", {"toolName": name}) for name in ("old", "new")]
    assert (old.repeatable, new.repeatable) == (True, False)


async def test_a_method_that_changes_something_is_not_sent_again(desk: Desk) -> None:
    await desk.has(tool(method=Method.POST))
    prepared_call = await desk.prepared_call("look", {})
    assert (prepared_call.method, prepared_call.safe, prepared_call.repeatable) == ("POST", False, False)


async def test_the_credentials_of_a_tool_and_of_its_login_are_made_good_and_no_others(desk: Desk) -> None:
    login = ClientCredentials(token_url=f"https://{HOST}/token", client_id="me", client_secret="{{secrets.OTHER}}")
    await desk.has(tool(headers={"X-Key": "{{secrets.KEY}}"}, auth=login))
    await desk.prepared_call("look", {})
    assert desk.used == [{"KEY", "OTHER"}]


async def test_a_tool_without_credentials_makes_none_good(desk: Desk) -> None:
    await desk.has(tool())
    await desk.prepared_call("look", {})
    assert desk.used == []


async def test_what_templates_may_name_is_the_executions_own(desk: Desk) -> None:
    await desk.has(tool(query={"day": "{{date}}", "run": "{{execution_id}}", "for": "{{task_name}}"}))
    await desk.call("look")
    assert desk.sent[0].query_params == {"day": f"{START:%Y-%m-%d}", "run": "e", "for": "n"}
