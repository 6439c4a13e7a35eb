"""The composition root of local MCP servers: processes of this machine, started by explicit configuration from one's own.

No function of a deployment imports it: what a server on this machine may do is decided by who runs this process.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman import settings
from ferryman.declared.entry import EMBEDDED
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.domain.remote_servers.names import split_name
from ferryman.domain.remote_servers.pin import PinState
from ferryman.egress import checking
from ferryman.egress.build import build_gate
from ferryman.framing.frame import neutralize_unframed
from ferryman.inmemory.log import NoLog
from ferryman.ports.gate import CallPolicy, StreamGate
from ferryman.tools.mcp.protocol.errors import McpClientError, ServerError
from ferryman.tools.mcp.protocol.rendering import render_error, render_off_loop
from ferryman.tools.stdio.configuration import build_credentials, read_local_servers, read_variables
from ferryman.tools.stdio.server import LocalTool, RunningServer

FAILED = "tool_failed"
"""The code of a call of which the server says that it has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTool:
    """A tool that nobody has accepted as it is: its digest is what the configuration has to name, if a person accepts it.

    `descriptor` is what the server sent, without hidden characters and secrets: a stranger's text, to be read before.
    """

    name: str
    tool: str
    state: PinState
    digest: str | None
    reason: str | None
    descriptor: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServers:
    """Local MCP servers that run.

    `async with EmbeddedServers.open(entries, env=os.environ) as servers: await servers.call("files__read", {"path": "a.txt"})`
    """

    servers: Mapping[str, RunningServer]
    credentials: Mapping[str, Credential] = field(repr=False)
    policy: ExecutionPolicy
    gate: StreamGate

    @classmethod
    @asynccontextmanager
    async def open(
        cls, entries: Iterable[Mapping[str, Any]], *, env: Mapping[str, str], gate: StreamGate | None = None
    ) -> AsyncIterator[EmbeddedServers]:
        """Start the servers that `entries` configure, list their tools, and end their process groups with the block.

        A process has in its environment the variables of `env` that its entry names, and no other. Each of these is a secret
        unless the entry lists it as public: a call whose arguments have one is refused, and results are redacted. Raise
        `InvalidInputError` with every fault, OSError where a program cannot be started, and `McpClientError` or
        `CallRefusedError` where a server does not list its tools.
        """
        configured = read_local_servers(entries)
        variables = read_variables(configured, env)
        credentials = {server.name: build_credentials(server, variables[server.name]) for server in configured}
        everything = dict(item for named in credentials.values() for item in named.items())
        policy = ExecutionPolicy(
            owner=EMBEDDED,
            task=EMBEDDED,
            plan=PRO,
            tools=(),
            integrations=(),
            domains=(),
            credentials=tuple(everything),
        )
        async with AsyncExitStack() as closing:
            running: dict[str, RunningServer] = {}
            for server in configured:
                started = await RunningServer.start(server, variables[server.name], credentials[server.name])
                closing.push_async_callback(started.process.close)
                started.others = {other.server.name: tuple(pin.tool for pin in other.pins) for other in running.values()}
                await started.list()
                running[server.name] = started
            gate = build_gate(settings.read(env), NoLog()) if gate is None else gate
            yield cls(servers=running, credentials=everything, policy=policy, gate=gate)

    def list_accepted(self) -> list[str]:
        """Return the names of the tools that may be called."""
        return [tool.pin.name for tool in self._iterate_tools() if tool.pin.state is PinState.ACCEPTED]

    async def list_waiting(self) -> list[WaitingTool]:
        """Return the tools that may not be called, with what a person has to read and accept. Raise `CallRefusedError`."""
        return [await self._describe(tool) for tool in self._iterate_tools() if tool.pin.state is not PinState.ACCEPTED]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolCallResult:
        """Return the result of one call, as a model would see it; a refused call has a result, too."""
        try:
            running = self.servers.get(split_name(name)[0]) if "__" in name else None
            if running is None:
                raise CallRefusedError(refusal.refuse_unknown_tool(name))
            await self._check_leaks(arguments)
            completed = await running.call(name, arguments)
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(name, refused.refusal)
        except ServerError as error:
            return replace(await self._present(name, render_error(error)), ok=False, code=FAILED)
        except McpClientError as error:
            return ToolCallResult.from_refusal(name, refusal.report_failure(str(error)))
        result = await self._present(name, await render_off_loop(EMBEDDED, completed))
        return replace(result, ok=False, code=FAILED) if completed.is_error else result

    async def read_errors(self, server: str) -> str:
        """Return the end of what a server's process wrote to standard error, without secrets and hidden characters.

        Raise KeyError for a server that there is not.
        """
        text = self.servers[server].process.errors_end.decode("utf-8", "replace")
        return neutralize_unframed(await checking.redact(EMBEDDED, self.credentials.values(), text))

    def _iterate_tools(self) -> Iterable[LocalTool]:
        return (tool for running in self.servers.values() for tool in running.tools.values())

    async def _describe(self, tool: LocalTool) -> WaitingTool:
        text = json.dumps(tool.descriptor.raw, ensure_ascii=False, indent=2)
        redacted = await checking.redact(EMBEDDED, self.credentials.values(), text)
        return WaitingTool(
            name=tool.pin.name,
            tool=tool.pin.tool,
            state=tool.pin.state,
            digest=tool.pin.listed_digest,
            reason=tool.pin.reason,
            descriptor=neutralize_unframed(redacted),
        )

    async def _check_leaks(self, arguments: Mapping[str, Any]) -> None:
        """Raise `CallRefusedError` where the arguments have a secret, in any spelling that a result would be redacted of."""
        text = json.dumps(arguments, ensure_ascii=False)
        if await checking.redact(EMBEDDED, self.credentials.values(), text) != text:
            raise CallRefusedError(refusal.LEAK_IN_ARGUMENTS)

    async def _present(self, name: str, inbound: InboundResponse) -> ToolCallResult:
        outbound = OutboundRequest(tool=name, method=Method.POST, url=f"stdio:{split_name(name)[0]}")
        call = CallPolicy(execution=self.policy, credentials=self.credentials)
        return await self.gate.present(outbound, call, inbound)
