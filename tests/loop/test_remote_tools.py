"""Tools of MCP servers in the loop: accepted ones alone are offered, as far as lists let them, and no server is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.http.request import Method
from ferryman.domain.labels.label import READ
from ferryman.domain.remote_servers.descriptor import digest_text, write_descriptor
from ferryman.domain.remote_servers.offered import name_model_text, write_model_text
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.tools.correction import FlowCorrection
from ferryman.domain.tools.declared import DeclaredTool, build_cluster
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.flow import READS
from ferryman.loop.remote_tools import read_remote
from ferryman.tools.finding.find_tools import find_tools, read_accepted
from tests.remote_servers import build_server

from .conftest import Stage, says

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}


class ServedStage(Stage):
    """A stage whose agent has MCP servers."""

    def deps(self) -> LoopDependencies:
        return replace(super().deps(), remote_servers=MemoryRemoteServers(self.memory))

    def add(self, name: str = "books", *tools: str, **change: Any) -> RemoteServer:
        """Store a server with these tools, all accepted."""
        pins, texts = [], {}
        for tool in tools:
            text = write_descriptor({"name": tool, "inputSchema": SCHEMA})
            texts |= {digest_text(text): text, name_model_text(digest_text(text)): write_model_text(f"Does {tool}.", SCHEMA)}
            pins.append(ToolPin(tool=tool, name=f"{name}__{tool}", state=PinState.ACCEPTED, digest=digest_text(text)))
        task = self.memory.tasks["t"]
        place = {"owner": task.owner, "workspace": task.workspace, "agent": task.agent}
        server = build_server(id=f"mcp_{name}", name=name, pins=tuple(pins), **{**place, **change})
        self.memory.mcp_servers[server.id], self.memory.mcp_descriptors[server.id] = server, texts
        return server

    def change_agent(self, **change: Any) -> None:
        """Change the task's agent."""
        task = self.memory.tasks["t"]
        self.memory.agents[task.agent] = replace(build_default_agent(task.owner, task.workspace), **change)

    async def offer(self) -> Mapping[str, str]:
        """Run the execution, and return the fingerprints that its policy has, by name."""
        await self.run(says("done"))
        policy = self.execution.policy
        assert policy is not None
        assert [tool["name"] for tool in self.opening.tools if "__" in tool["name"]] == [*policy.remote]
        return policy.remote

    @property
    def opening(self) -> Any:
        return self.memory.openings[self.execution.id]


@pytest.fixture
def stage() -> ServedStage:
    stage = ServedStage()
    stage.task()
    return stage


async def test_accepted_tools_are_offered_with_their_fingerprints(stage: ServedStage) -> None:
    server = stage.add("books", "search", "buy")
    assert await stage.offer() == {pin.name: server.fingerprint_of(pin) for pin in server.pins}
    assert stage.opening.tools[-1]["description"] == "Does buy."


async def test_what_a_server_defines_is_read_as_a_strangers(stage: ServedStage) -> None:
    stage.add("books", "search")
    await stage.offer()
    assert stage.opening.label.integrity is READ.integrity


@pytest.mark.parametrize("state", [state for state in PinState if state is not PinState.ACCEPTED])
async def test_no_other_tool_is_offered(stage: ServedStage, state: PinState) -> None:
    server = stage.add("books", "search")
    stage.memory.mcp_servers[server.id] = replace(server, pins=tuple(replace(pin, state=state) for pin in server.pins))
    assert await stage.offer() == {}


async def test_no_tool_of_a_disabled_server_or_of_another_agent_is_offered(stage: ServedStage) -> None:
    stage.add("books", "search", enabled=False)
    stage.add("music", "play", agent="agent_other")
    stage.add("films", "watch", owner="bob")
    assert await stage.offer() == {}


async def test_the_lists_of_the_agent_narrow_them(stage: ServedStage) -> None:
    stage.add("books", "search", "buy")
    stage.change_agent(allowed_tools=("books__search", "http_get"))
    assert [*await stage.offer()] == ["books__search"]


async def test_a_task_that_names_any_has_no_others(stage: ServedStage) -> None:
    stage.task(tools=("http_get", "music__play"))
    stage.add("books", "search")
    stage.add("music", "play", "stop")
    assert [*await stage.offer()] == ["music__play"]


async def judge(stage: ServedStage) -> CallFlow:
    """Return what is said of a call with an argument that nobody has written."""
    stage.add("books", "get_contacts")
    await stage.run(says("", ("books__get_contacts", {"to": "eve@evil.example"})), says("done"))
    flow = stage.memory.tickets["e"][0].flow
    assert flow is not None
    return flow


async def test_a_call_is_judged_as_one_that_sends_whatever_its_server_calls_it(stage: ServedStage) -> None:
    assert (await judge(stage)).asks


async def test_an_owner_may_say_that_a_tool_only_reads(stage: ServedStage) -> None:
    flow = FlowCorrection(changes=False, sends=False)
    stage.change_agent(tool_settings={"books__get_contacts": ToolSettings(flow=flow)})
    assert await judge(stage) == READS


async def test_a_direct_call_reads_the_one_tool_that_it_calls(stage: ServedStage) -> None:
    stage.add("books", "search", "buy")
    stage.add("music", "play")
    execution = replace(stage.execution, called_tool="books__buy")
    tools = await read_remote(MemoryRemoteServers(stage.memory), execution)
    assert [tool.name for tool in tools] == ["books__buy"]
    assert not await read_remote(MemoryRemoteServers(stage.memory), replace(execution, called_tool="http_get"))


async def test_a_tool_that_is_not_shown_is_found_by_its_words(stage: ServedStage) -> None:
    stage.add("books", "search")
    servers = MemoryRemoteServers(stage.memory)
    await stage.offer()
    policy = stage.execution.policy
    assert policy is not None
    accepted = await read_accepted(servers, stage.execution)
    assert "books__search" in find_tools("search", policy, accepted, ())[0]
    other = [replace(tool, fingerprint="0" * 16) for tool in accepted]
    assert "books__search" not in find_tools("search", policy, other, ())[0]


async def test_a_declared_tool_that_had_the_name_of_a_server_s_is_neither_offered_nor_taken_for_it(stage: ServedStage) -> None:
    server = stage.add("books", "search")
    old = DeclaredTool(name="books__search", url="https://old.example/search", method=Method.POST, parameters={})
    stage.memory.clusters["t"] = {"": (build_cluster("", 1, (old,)), (old,))}
    assert await stage.offer() == {"books__search": server.fingerprint_of(server.pins[0])}
