"""A local MCP server that runs: its tools as they were accepted, and calls of them (a change quarantines a tool)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman import offload
from ferryman.declared.arguments import check_depth
from ferryman.declared.entry import EMBEDDED
from ferryman.declared.schemas import find_faults
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.remote_servers.lookalikes import Neighbours
from ferryman.domain.remote_servers.names import build_tool_name
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.pins import compare_pins
from ferryman.tools.mcp.judging import judge_listing
from ferryman.tools.mcp.protocol.client import McpClient
from ferryman.tools.mcp.protocol.descriptors import ToolDescriptor
from ferryman.tools.mcp.protocol.errors import McpClientError
from ferryman.tools.mcp.protocol.results import Completed
from ferryman.tools.stdio.configuration import LocalServer
from ferryman.tools.stdio.process import ServerProcess
from ferryman.tools.stdio.transport import StdioTransport

VERIFIED_S = 60.0
"""A listing is this old at most when a tool is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTool:
    """A tool of a local server: its pin, and its descriptor as the server lists it now."""

    pin: ToolPin
    descriptor: ToolDescriptor = field(repr=False)


@dataclass(kw_only=True)
class RunningServer:
    """A server whose process runs. `credentials` are its secret variables; `clock` counts seconds."""

    server: LocalServer
    process: ServerProcess
    client: McpClient
    credentials: Mapping[str, Credential] = field(repr=False)
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    tools: dict[str, LocalTool] = field(default_factory=dict)
    pins: tuple[ToolPin, ...] = ()
    _verified_s: float = float("-inf")

    @classmethod
    async def start(
        cls, server: LocalServer, variables: Mapping[str, str], credentials: Mapping[str, Credential]
    ) -> RunningServer:
        """Start the process. Raise OSError."""
        process = await ServerProcess.start(server.command, cwd=server.cwd, env=variables)
        transport = StdioTransport(process, owner=EMBEDDED)
        client = McpClient(transport, owner=EMBEDDED, session_key=server.name)
        accepted = tuple(
            ToolPin(tool=tool, name=build_tool_name(server.name, tool), state=PinState.ACCEPTED, digest=digest)
            for tool, digest in server.accept.items()
        )
        return cls(server=server, process=process, client=client, credentials=credentials, pins=accepted)

    async def list(self) -> None:
        """List the tools and compare them with what was accepted. Raise `McpClientError` and `CallRefusedError`."""
        listing = await self.client.list_tools()
        descriptors = {tool.name: tool for tool in listing.tools}
        neighbours = Neighbours(server=self.server.name, others=self.others, accepted=tuple(self.server.accept))
        judged = await offload.run(
            EMBEDDED,
            offload.DOCUMENT,
            judge_listing,
            [(tool.name, tool.raw) for tool in listing.tools],
            [(tool.name, tool.reason) for tool in listing.refused],
            neighbours,
        )
        self.pins = compare_pins(self.server.name, self.pins, judged.listing)
        self.tools = {
            pin.name: LocalTool(pin=pin, descriptor=descriptors[pin.tool]) for pin in self.pins if pin.tool in descriptors
        }
        self._verified_s = self.clock()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Completed:
        """Return what a call of an accepted tool came to. Raise `McpClientError` and `CallRefusedError`."""
        if self.clock() - self._verified_s > VERIFIED_S:
            await self.list()
        tool = self.tools.get(name)
        if tool is None:
            raise CallRefusedError(refusal.refuse_unknown_tool(name))
        if tool.pin.state is not PinState.ACCEPTED:
            raise CallRefusedError(refusal.refuse_disabled_tool(name, f"its descriptor is {tool.pin.state.value}"))
        check_depth(name, arguments)
        if any(True for _ in find_faults(tool.descriptor.input_schema, dict(arguments))):
            raise CallRefusedError(refusal.refuse_wrong_argument(name, "arguments", "as the tool's schema says"))
        outcome = await self.client.call_tool(tool.descriptor, arguments)
        if not isinstance(outcome, Completed):
            raise McpClientError("the MCP server asks for what this client has not offered")
        return outcome
