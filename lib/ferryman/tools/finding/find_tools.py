"""The tool `find_tools`: the model searches the tools of its task that it was not shown, and may call what it finds.

It enables nothing: what is found was frozen in the execution's policy at its start. It holds no key, and is executed by the
orchestrator: what it says is scanned for the task's secrets before it is stored, as the result of every function without keys.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ferryman import offload
from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.found_tools import write_found
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.remote_servers.offered import RemoteTool, build_tools, list_model_texts
from ferryman.domain.tools.offered import OfferedTool
from ferryman.ports.clock import Clock
from ferryman.ports.clusters import Clusters
from ferryman.ports.executions import Executions
from ferryman.ports.model import ReplyScanner
from ferryman.ports.remote_servers import RemoteServers
from ferryman.ports.tickets import Tickets
from ferryman.selection import ToolIndex, read_definition, search
from ferryman.tools.keyless.calling import KeylessCalls

FOUND_MAX = 5
"""How many tools a search returns."""

FOUND_CHARACTERS_MAX = 40_000
"""Their definitions together, as JSON: a result has to hold them whole."""

QUERY_CHARACTERS_MAX = 1_000

NOTHING = "No other tool of this task fits that. Say in other words what a tool is to do, or name it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearchCalls:
    """Executes the calls."""

    tickets: Tickets
    scanner: ReplyScanner
    clock: Clock
    clusters: Clusters
    executions: Executions
    remote_servers: RemoteServers | None = None

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled. Raise `StaleError` or `UnavailableError`; then the call may be made again."""
        calls = KeylessCalls(tickets=self.tickets, scanner=self.scanner, clock=self.clock, ask=partial(self._ask, execution))
        return await calls.execute(ticket, execution=execution)

    async def _ask(self, execution: Execution, _: str, body: Mapping[str, Any]) -> KeylessAnswer:
        return KeylessAnswer(*await self._answer(execution, body))

    async def _answer(self, execution: Execution, body: Mapping[str, Any]) -> tuple[str, str | None]:
        query = body["arguments"].get("query")
        if not isinstance(query, str) or not 0 < len(query.strip()) <= len(query) <= QUERY_CHARACTERS_MAX:
            return f"{ERROR}query: a text of 1 to {QUERY_CHARACTERS_MAX:,} characters is needed", "invalid_arguments"
        opening, policy = await self.executions.opening(execution.id), execution.policy
        assert opening is not None, "a call comes after the setup"
        assert policy is not None, "a call comes after the setup"
        listed = [str(tool["name"]) for tool in opening.tools]
        declared: list[OfferedTool] = [*await self.clusters.tools(execution.task)]
        if policy.remote and self.remote_servers is not None:
            declared += await read_accepted(self.remote_servers, execution)
        if not declared:
            return find_tools(query, policy, (), listed)
        try:
            return await offload.run(execution.owner, offload.DOCUMENT, find_tools, query, policy, declared, listed)
        except offload.OverBudgetError as error:
            return f"{ERROR}the declared tools cannot be read: {error}", "over_budget"


async def read_accepted(servers: RemoteServers, execution: Execution) -> list[RemoteTool]:
    """Return the accepted tools of the MCP servers of the execution's agent."""
    tools: list[RemoteTool] = []
    for server in await servers.list(execution.agent, owner=execution.owner, workspace=execution.workspace):
        texts = await servers.descriptors(server.id, list_model_texts(server))
        tools += await offload.run(execution.owner, offload.DOCUMENT, build_tools, server, dict(texts))
    return tools


offload.preload(ToolIndex)


def find_tools(
    query: str, policy: ExecutionPolicy, declared: Sequence[OfferedTool], listed: Collection[str]
) -> tuple[str, str | None]:
    """Return what a search says: at most `FOUND_MAX` tools that `policy` allows and that are not `listed`, the best first.

    The second value is the code of a failure, or None.
    A declared tool, or one of an MCP server, that was changed since the execution began is another tool, and is not found.
    Pure, for workers.
    """
    built_in = [TOOLS[name] for name in policy.tools if name in TOOLS and name not in listed and TOOLS[name].requires is None]
    known = {**policy.declared, **policy.remote}
    enabled = [tool for tool in declared if tool.enabled and tool.name in known and tool.name not in listed]
    index = ToolIndex(
        [
            *(read_definition(tool.name, tool.description, tool.schema) for tool in built_in),
            *(
                read_definition(tool.name, tool.description or tool.summary, tool.schema, group=tool.cluster)
                for tool in enabled
            ),
        ]
    )
    definitions, too_large, room = list[dict[str, Any]](), list[str](), FOUND_CHARACTERS_MAX
    for number in search(index, query, 2 * FOUND_MAX):
        if number < len(built_in):
            definition = built_in[number].to_definition()
        else:
            tool = enabled[number - len(built_in)]
            if tool.fingerprint != known[tool.name]:
                continue
            definition = tool.to_definition()
        definition = dict(policy.settings_of(definition["name"]).narrow_definition(definition))
        size = len(json.dumps(definition, ensure_ascii=False))
        if size > room:
            too_large.append(definition["name"])
        elif len(definitions) < FOUND_MAX:
            definitions.append(definition)
            room -= size
    if definitions:
        return write_found(definitions), None
    if too_large:
        return f"{ERROR}too large to be shown: {', '.join(too_large)}", "over_budget"
    return NOTHING, None
