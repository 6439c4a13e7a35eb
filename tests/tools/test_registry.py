"""The registry: what the model is shown, and how a call becomes a result."""

from __future__ import annotations

import pytest

from ferryman.domain import refusal
from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.domain.refusal import Refused
from ferryman.domain.tool import Tool
from ferryman.tools.builtin import TOOLS
from ferryman.tools.registry import ToolRegistry

ALL = [tool.name for tool in TOOLS]


async def handler(call, context):
    context.append(call.name)
    return ToolCallResult(call.name, "done")


def admitted(tool):
    return None


def call(name: str) -> ToolCall:
    return ToolCall(id="c", name=name, arguments={})


@pytest.fixture
def registry():
    return ToolRegistry(handler)


def test_the_built_in_tools_are_registered_at_the_start(registry):
    assert [each["name"] for each in registry.get_definitions(ALL)] == ALL


def test_a_definition_has_exactly_name_description_and_input_schema(registry):
    assert all(set(each) == {"name", "description", "input_schema"} for each in registry.get_definitions(ALL))


def test_only_what_the_task_enabled_is_shown_in_registry_order(registry):
    assert [each["name"] for each in registry.get_definitions(["webhook", "nothing", "api_call"])] == ["api_call", "webhook"]


def test_an_empty_list_enables_nothing(registry):
    assert registry.get_definitions([]) == []


def test_a_tool_that_requires_a_service_is_shown_only_with_its_credential(registry):
    registry.register(Tool(name="slack_post", description="", schema={}, requires="slack"), handler)
    assert registry.get_definitions(["slack_post"]) == []
    assert len(registry.get_definitions(["slack_post"], services=["slack"])) == 1


def test_a_name_is_registered_once(registry):
    with pytest.raises(ValueError, match="registered twice"):
        registry.register(TOOLS[0], handler)


async def test_a_call_is_handed_to_its_handler(registry):
    handed: list[str] = []
    result = await registry.execute(call("http_get"), handed, enabled=ALL, admit=admitted)
    assert (result.content, handed) == ("done", ["http_get"])


async def test_an_unknown_tool_is_answered_and_not_handled(registry):
    result = await registry.execute(call("tool_name"), [], enabled=ALL, admit=admitted)
    assert (result.content, result.block_reason) == ("Error: unknown tool 'tool_name'", "unknown_tool")


async def test_a_tool_the_task_did_not_enable_is_answered_and_not_handled(registry):
    handed: list[str] = []
    result = await registry.execute(call("webhook"), handed, enabled=["http_get"], admit=admitted)
    assert (result.content, handed) == ("Error: tool 'webhook' is not enabled for this task", [])


async def test_a_call_over_a_limit_is_answered_and_not_handled(registry):
    def full(tool):
        raise Refused(refusal.rate_limited_execution(20))

    handed: list[str] = []
    result = await registry.execute(call("http_get"), handed, enabled=ALL, admit=full)
    assert (result.content, result.blocked, handed) == ("Error: Execution limit reached (20 API calls)", True, [])


async def test_a_tool_that_may_not_be_called_is_not_counted(registry):
    asked = []
    await registry.execute(call("nothing"), [], enabled=ALL, admit=asked.append)
    await registry.execute(call("webhook"), [], enabled=[], admit=asked.append)
    assert asked == []
