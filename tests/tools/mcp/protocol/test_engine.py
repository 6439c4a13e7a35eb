"""The client against our own engine, in both revisions: every method that it has."""

from __future__ import annotations

import pytest

from ferryman.domain.mcp_revisions import LEGACY, MODERN
from ferryman.tools.mcp.protocol import (
    ClientCapabilities,
    Completed,
    McpClient,
    NeedsInput,
    Progress,
    ServerError,
    Started,
    ToolDescriptor,
)
from tests.serving.mcp.servers import TOOLS, Stage

from .peers import EngineTransport

REVISIONS = (MODERN, LEGACY[0])


@pytest.fixture
def stage() -> Stage:
    return Stage()


def build_client(stage: Stage, revision: str | None, **how: object) -> McpClient:
    return McpClient(EngineTransport.to(stage.server), owner="o", revision=revision, **how)  # type: ignore[arg-type]


async def find(client: McpClient, name: str) -> ToolDescriptor:
    return next(tool for tool in (await client.list_tools()).tools if tool.name == name)


@pytest.mark.parametrize("revision", [None, *REVISIONS])
async def test_all_tools_are_listed_over_all_pages(stage: Stage, revision: str | None) -> None:
    client = build_client(stage, revision)
    listing = await client.list_tools()
    assert ([tool.name for tool in listing.tools], listing.refused) == (sorted(TOOLS), ())
    assert (client.revision, client.server_info.name) == (revision or MODERN, "stage")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_tool_is_called(stage: Stage, revision: str) -> None:
    client = build_client(stage, revision)
    outcome = await client.call_tool(await find(client, "echo"), {"text": "hi"})
    assert isinstance(outcome, Completed)
    assert ([block.text for block in outcome.content], outcome.is_error) == (["hi"], False)


async def test_an_argument_is_repeated_in_its_header(stage: Stage) -> None:
    client = build_client(stage, MODERN)
    outcome = await client.call_tool(await find(client, "route"), {"region": "süd", "text": "x"})
    assert isinstance(outcome, Completed)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_progress_is_told_as_it_comes(stage: Stage, revision: str) -> None:
    reports: list[Progress] = []

    async def note(progress: Progress) -> None:
        reports.append(progress)

    client = build_client(stage, revision, on_progress=note)
    outcome = await client.call_tool(await find(client, "report"), {})
    assert isinstance(outcome, Completed)
    assert reports == [Progress(1, 2, "step 1"), Progress(2, 2, "step 2")]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_error_of_the_server_is_an_error(stage: Stage, revision: str) -> None:
    client = build_client(stage, revision)
    with pytest.raises(ServerError) as error:
        await client.call_tool(await find(client, "fail"), {})
    assert error.value.code == -32603


async def test_a_question_is_answered_by_a_second_call_with_its_state(stage: Stage) -> None:
    client = build_client(stage, MODERN, capabilities=ClientCapabilities(url=True))
    tool = await find(client, "approve")
    asking = await client.call_tool(tool, {})
    assert isinstance(asking, NeedsInput)
    assert (asking.requests["a1"].url, asking.requests["a1"].message) == ("https://example.com/a", "Decide")
    answered = await client.call_tool(tool, {}, input_responses={"a1": {"action": "accept"}}, request_state=asking.state)
    assert isinstance(answered, Completed)
    assert answered.content[0].text == "approved a1"


async def test_a_task_is_awaited_by_its_id(stage: Stage) -> None:
    client = build_client(stage, MODERN, capabilities=ClientCapabilities(tasks=True))
    started = await client.call_tool(await find(client, "task"), {})
    assert isinstance(started, Started)
    task = await client.get_task(started.task.id)
    assert (task.id, task.status, task.outcome) == ("t1", "working", None)


async def test_a_client_without_capabilities_declares_none(stage: Stage) -> None:
    client = build_client(stage, MODERN)
    with pytest.raises(ServerError) as error:
        await client.call_tool(await find(client, "approve"), {})
    assert error.value.code == -32021
