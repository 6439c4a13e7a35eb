"""The registry: what the model is shown, and how a call becomes a result."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files

import pytest

from ferryman import catalog
from ferryman.catalog.tools import FILES, LISTED, TOOLS, list_offered
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.execution import Execution
from ferryman.tools.registry import ToolRegistry
from tests.builders import build_execution, build_policy, build_ticket, build_tool

START = datetime(2026, 1, 1, tzinfo=UTC)
ALL = list(TOOLS)
EVERY = build_policy(tools=tuple(TOOLS))


def make_handler():
    """Return a handler that settles every call, and the list of the tools it was called for."""
    handed: list[str] = []

    async def handle(ticket, *, execution):
        handed.append(ticket.tool)
        return replace(ticket, state=TicketState.SETTLED, result=ToolCallResult(ticket.tool, "done"))

    return handle, handed


def admit_all(tool):
    return None


def plan_ticket(name: str) -> Ticket:
    return build_ticket(tool=name)


def start_execution(enabled) -> Execution:
    policy = build_policy(tools=tuple(enabled))
    return build_execution(policy=policy)


@pytest.fixture
def handled():
    return make_handler()


@pytest.fixture
def registry(handled):
    return ToolRegistry(handled[0])


def test_the_built_in_tools_are_registered_at_the_start(registry):
    assert [tool["name"] for tool in registry.get_definitions(ALL)] == ALL


def test_a_definition_has_exactly_name_description_and_input_schema(registry):
    assert all(set(definition) == {"name", "description", "input_schema"} for definition in registry.get_definitions(ALL))


def test_the_model_reads_the_catalogue_s_descriptions(registry):
    entries = {entry["name"]: entry for entry in json.loads(files(catalog).joinpath("tools.json").read_text())["tools"]}
    definitions = {definition["name"]: definition for definition in registry.get_definitions(list(TOOLS))}
    assert definitions.keys() == {name for name, entry in entries.items() if entry["implemented"]}
    for name, definition in definitions.items():
        entry = entries[name]
        assert (definition["description"], definition["input_schema"]) == (entry["description"], entry["input_schema"])


def test_only_what_the_task_enabled_is_shown_in_registry_order(registry):
    assert [tool["name"] for tool in registry.get_definitions(["webhook", "nothing", "api_call"])] == [
        "api_call",
        "webhook",
    ]


def test_an_empty_list_enables_nothing(registry):
    assert registry.get_definitions([]) == []


def test_a_tool_that_requires_a_service_is_shown_only_with_its_credential(registry):
    registry.register(build_tool(name="slack_post", requires="slack"), make_handler()[0])
    assert registry.get_definitions(["slack_post"]) == []
    assert len(registry.get_definitions(["slack_post"], services=["slack"])) == 1


def test_the_tools_are_built_once_and_shared_by_all_executions(registry):
    assert all(
        registry.find_tool(name, build_policy(tools=(name,))) is registry.find_tool(name, EVERY) is TOOLS[name] for name in ALL
    )


def test_a_name_is_registered_once(registry):
    with pytest.raises(ValueError, match="registered twice"):
        registry.register(TOOLS["api_call"], make_handler()[0])


async def test_a_call_is_handed_to_its_handler(registry, handled):
    ticket = await registry.execute(plan_ticket("http_get"), execution=start_execution(ALL), admit=admit_all)
    assert (ticket.result.content, handled[1]) == ("done", ["http_get"])


async def test_the_ticket_comes_back_as_its_handler_settled_it(registry):
    ticket = await registry.execute(plan_ticket("http_get"), execution=start_execution(ALL), admit=admit_all)
    assert ticket.state is TicketState.SETTLED


async def test_the_ticket_of_a_refused_call_is_not_settled(registry):
    ticket = await registry.execute(plan_ticket("tool_name"), execution=start_execution(ALL), admit=admit_all)
    assert ticket.state is TicketState.INTENDED


async def test_a_tool_with_a_handler_of_its_own_is_executed_by_that(registry, handled):
    handle, handed = make_handler()
    registry.register(build_tool(name="slack_post"), handle)
    await registry.execute(plan_ticket("slack_post"), execution=start_execution(["slack_post"]), admit=admit_all)
    assert (handed, handled[1]) == (["slack_post"], [])


async def test_an_unknown_tool_is_answered_and_not_handled(registry, handled):
    ticket = await registry.execute(plan_ticket("tool_name"), execution=start_execution(ALL), admit=admit_all)
    assert (ticket.result.content, ticket.result.block_reason) == ("Error: unknown tool 'tool_name'", "unknown_tool")
    assert handled[1] == []


@pytest.mark.parametrize("name", [name for name, tool in LISTED.items() if not tool.implemented])
async def test_a_tool_that_is_not_implemented_says_so_and_is_offered_to_no_model(registry, handled, name):
    ticket = await registry.execute(plan_ticket(name), execution=start_execution(ALL), admit=admit_all)
    assert ticket.result.content == f"Error: tool '{name}' is not implemented"
    assert (ticket.result.block_reason, handled[1]) == ("tool_not_implemented", [])
    assert registry.get_definitions([name]) == []


async def test_a_declared_tool_may_have_the_name_of_one_that_is_not_implemented(registry, handled):
    await registry.execute(plan_ticket("weather"), execution=start_execution(["weather"]), admit=admit_all)
    assert handled[1] == ["weather"]


async def test_a_tool_the_task_did_not_enable_is_answered_and_not_handled(registry, handled):
    ticket = await registry.execute(plan_ticket("webhook"), execution=start_execution(["http_get"]), admit=admit_all)
    assert (ticket.result.content, handled[1]) == ("Error: tool 'webhook' is not enabled for this task", [])


async def test_a_call_over_a_limit_is_answered_and_not_handled(registry, handled):
    def refuse(tool):
        raise CallRefusedError(refusal.refuse_execution_rate(20))

    ticket = await registry.execute(plan_ticket("http_get"), execution=start_execution(ALL), admit=refuse)
    assert (ticket.result.content, ticket.result.blocked) == ("Error: Execution limit reached (20 API calls)", True)
    assert handled[1] == []


async def test_a_tool_that_may_not_be_called_is_not_counted(registry):
    counted = []
    await registry.execute(plan_ticket("nothing"), execution=start_execution(ALL), admit=counted.append)
    await registry.execute(plan_ticket("webhook"), execution=start_execution([]), admit=counted.append)
    assert counted == []


async def test_a_deployment_without_a_bucket_offers_no_tool_of_files(handled):
    registry = ToolRegistry(handled[0], offered=list_offered(has_files=False))
    names = {name for name, tool in TOOLS.items() if tool.kind == FILES}
    assert {tool["name"] for tool in registry.get_definitions(list(TOOLS))} == TOOLS.keys() - names
    assert not any(map(registry.has_tool, names))
    # nor is one called that a policy was frozen with, before the bucket was taken away
    for name in sorted(names):
        ticket = await registry.execute(plan_ticket(name), execution=start_execution([name]), admit=lambda _: None)
        assert (ticket.result.code, handled[1]) == ("tool_not_implemented", [])
