"""Our client at servers of others, in both revisions, and at our own fixtures. `make mcp-conformance` installs them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ferryman.tools.mcp.protocol import (
    ClientCapabilities,
    Completed,
    Elicitation,
    McpClient,
    NeedsInput,
    RemoteTaskStatus,
    ServerError,
    Started,
    ToolDescriptor,
    render_completed,
)

from .installing import EVERYTHING, PEER, PYTHON, install_everything
from .loopback import LoopbackTransport, connect
from .servers import serve_everything, serve_ours, serve_peer

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ALL = ClientCapabilities(form=True, url=True, tasks=True)

needs_sdk = pytest.mark.skipif(
    not (PYTHON.exists() and (PEER / "server.py").exists()), reason="make mcp-conformance installs the SDK's server"
)
needs_everything = pytest.mark.skipif(not EVERYTHING.exists(), reason="make mcp-conformance installs the everything-server")
SERVERS = [pytest.param("ours", id="ours"), pytest.param("sdk", marks=needs_sdk, id="sdk")]


@asynccontextmanager
async def reach(server: str) -> AsyncIterator[LoopbackTransport]:
    """Yield a transport to a server that is started for it."""
    if server == "everything":
        serving = serve_everything(*install_everything())
    else:
        serving = serve_ours() if server == "ours" else serve_peer()
    async with serving as instance, connect(instance.url) as transport:
        yield transport


async def find(client: McpClient, name: str) -> ToolDescriptor:
    return next(tool for tool in (await client.list_tools()).tools if tool.name == name)


async def call(client: McpClient, name: str, arguments: Mapping[str, Any] | None = None) -> str:
    outcome = await client.call_tool(await find(client, name), arguments or {})
    assert isinstance(outcome, Completed)
    return render_completed(outcome).body.decode()


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("server", SERVERS)
async def test_a_server_of_both_revisions_is_listed_and_called(server: str, revision: str) -> None:
    reports = []

    async def note(progress: Any) -> None:
        reports.append(progress.progress)

    async with reach(server) as transport:
        client = McpClient(transport, owner="o", revision=revision, on_progress=note)
        listing = await client.list_tools()
        assert ({"test_simple_text", "test_image_content"} <= {tool.name for tool in listing.tools}, listing.refused) == (
            True,
            (),
        )
        assert await call(client, "test_simple_text") == "This is a simple text response for testing."
        assert "bytes, not shown" in await call(client, "test_image_content")
        await call(client, "test_tool_with_progress")
        failed = await client.call_tool(await find(client, "test_error_handling"), {})
        assert isinstance(failed, Completed)
        assert (failed.is_error, client.revision, reports) == (True, revision, [0, 50, 100])


@pytest.mark.parametrize("server", SERVERS)
async def test_the_newer_revision_is_found_out(server: str) -> None:
    async with reach(server) as transport:
        client = McpClient(transport, owner="o")
        await client.list_tools()
        assert (client.revision, transport.methods[0]) == (MODERN, "server/discover")


@pytest.mark.parametrize("server", SERVERS)
async def test_a_question_and_its_answer_are_two_calls(server: str) -> None:
    async with reach(server) as transport:
        client = McpClient(transport, owner="o", revision=MODERN, capabilities=ALL)
        tool = await find(client, "test_input_required_result_request_state")
        asking = await client.call_tool(tool, {})
        assert isinstance(asking, NeedsInput)
        assert (asking.requests["confirm"].mode, asking.state is not None) == ("form", True)
        responses = {"confirm": {"action": "accept", "content": {"ok": True}}}
        answered = await client.call_tool(tool, {}, input_responses=responses, request_state=asking.state)
        assert isinstance(answered, Completed)
        assert "state-ok" in render_completed(answered).body.decode()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_question_in_a_session_is_answered_in_it(server: str) -> None:
    questions: list[Elicitation] = []

    async def decide(elicitation: Elicitation) -> Mapping[str, Any]:
        questions.append(elicitation)
        return {"action": "decline"}

    async with reach(server) as transport:
        client = McpClient(transport, owner="o", revision=LEGACY, capabilities=ALL, on_elicitation=decide)
        text = await call(client, "test_elicitation", {"message": "Which?"})
        assert ("decline" in text, len(questions)) == (True, 1)


@pytest.mark.parametrize("server", SERVERS)
async def test_sampling_is_declined(server: str) -> None:
    async with reach(server) as transport:
        client = McpClient(transport, owner="o", revision=MODERN, capabilities=ALL)
        with pytest.raises(ServerError) as error:
            await client.call_tool(await find(client, "test_missing_capability"), {})
        assert error.value.code == -32021


async def test_a_stream_of_ours_that_breaks_off_is_taken_up_again() -> None:
    async with reach("ours") as transport:
        client = McpClient(transport, owner="o", revision=LEGACY)
        assert await call(client, "test_reconnection") == "The client has come back."
        assert (transport.methods.count("GET") > 0, transport.methods.count("tools/call")) == (True, 1)


async def test_an_argument_is_repeated_in_its_header() -> None:
    async with reach("ours") as transport:
        client = McpClient(transport, owner="o", revision=MODERN)
        assert await call(client, "test_custom_header", {"region": "Zürich"}) == "Routed to Zürich"


async def test_a_task_is_answered_awaited_and_read() -> None:
    async with reach("ours") as transport:
        client = McpClient(transport, owner="o", revision=MODERN, capabilities=ALL)
        started = await client.call_tool(await find(client, "confirm_delete"), {"filename": "a.txt"})
        assert isinstance(started, Started)
        task = await client.get_task(started.task.id)
        assert task.status is RemoteTaskStatus.INPUT_REQUIRED
        await client.update_task(task.id, {key: {"action": "accept", "content": {"confirm": True}} for key in task.requests})
        while not task.status.is_final:
            task = await client.get_task(task.id)
        assert (task.status, isinstance(task.outcome, Completed)) == (RemoteTaskStatus.COMPLETED, True)


async def test_a_task_is_cancelled() -> None:
    async with reach("ours") as transport:
        client = McpClient(transport, owner="o", revision=MODERN, capabilities=ALL)
        started = await client.call_tool(await find(client, "confirm_delete"), {"filename": "a.txt"})
        assert isinstance(started, Started)
        await client.cancel_task(started.task.id)
        assert (await client.get_task(started.task.id)).status is RemoteTaskStatus.CANCELLED


@needs_everything
async def test_the_everything_server_of_another_language_is_listed_and_called() -> None:
    async with reach("everything") as transport:
        client = McpClient(transport, owner="o")
        listing = await client.list_tools()
        assert (client.revision, client.server_info.name, listing.refused) == (LEGACY, "mcp-servers/everything", ())
        assert transport.methods == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
        assert await call(client, "echo", {"message": "hi"}) == "Echo: hi"
        assert await call(client, "get-sum", {"a": 2, "b": 3}) == "The sum of 2 and 3 is 5."
        assert '"temperature"' in await call(client, "get-structured-content", {"location": "New York"})
        picture, links = await call(client, "get-tiny-image"), await call(client, "get-resource-links")
        assert ("bytes, not shown" in picture, '"resource_link"' in links) == (True, True)


@needs_everything
async def test_its_questions_are_answered_in_the_stream_of_the_call() -> None:
    questions: list[Elicitation] = []

    async def decide(elicitation: Elicitation) -> Mapping[str, Any]:
        questions.append(elicitation)
        return {"action": "cancel"}

    async with reach("everything") as transport:
        client = McpClient(transport, owner="o", capabilities=ALL, on_elicitation=decide)
        await call(client, "trigger-elicitation-request")
        assert (len(questions), transport.methods.count("response")) == (1, 1)
