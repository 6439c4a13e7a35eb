"""The tools of an agent, as its conversations have them: built in, declared and imported, all that nobody takes away."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ferryman import offload
from ferryman.catalog.tools import DECLARED, EXTRACTING, PASSING, RECALLING, REMOTE, TOOLS, list_enabled
from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.chat_task import build_chat_task, derive_chat_task
from ferryman.domain.flow.derivation import derive_built_in, derive_declared, derive_remote
from ferryman.domain.flow.signature import FlowSignature, apply_settings
from ferryman.domain.ids import is_id
from ferryman.domain.mcp_headers import ANNOTATION
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.remote_servers.offered import RemoteTool, build_tools, list_model_texts
from ferryman.domain.remote_servers.server import fingerprint_tools
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.names import names_tool
from ferryman.domain.tools.settings import find_settings
from ferryman.domain.tools.tool import Repeatable, Tool
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.effective_policy import ToolLimits
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.tool_scopes import covers_tool
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.chat_tasks import ARCHIVED
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.mcp.caller import McpCaller
from ferryman.serving.api.mcp.outcome import OUTPUT_SCHEMA

OF_CALLS = (EXTRACTING, PASSING, RECALLING)
"""The kinds of tools that refer to other calls of an execution: a direct call is the only one of its."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTools:
    """An agent with the task of its conversations, and the tools that a direct call may name."""

    agent: Agent
    task: Task
    built_in: tuple[Tool, ...]
    declared: tuple[DeclaredTool, ...]
    remote: tuple[RemoteTool, ...] = ()

    def list_names(self) -> Iterator[str]:
        """Yield the names of the tools."""
        yield from (tool.name for tool in self.built_in)
        yield from (tool.name for tool in self.declared)
        yield from (tool.name for tool in self.remote)

    def describe(self, name: str) -> dict[str, Any]:
        """Return the tool of this name as the protocol has it. Raise KeyError for any other."""
        settings = find_settings(self.agent.tool_settings, name)
        for tool in self.built_in:
            if tool.name == name:
                signature = apply_settings(derive_built_in(tool), settings.flow, settings.arguments)
                is_repeatable = tool.policy.repeatable is Repeatable.SAFE
                definition = settings.narrow_definition(tool.to_definition())
                return write_tool(definition, signature, title=tool.display_name, is_repeatable=is_repeatable)
        for declared in self.declared:
            if declared.name == name:
                signature = apply_settings(derive_declared(declared), settings.flow, settings.arguments)
                definition = settings.narrow_definition(declared.to_definition())
                return write_tool(definition, signature, title="", is_repeatable=not signature.changes)
        for remote in self.remote:
            if remote.name == name:
                signature = apply_settings(derive_remote(name), settings.flow, settings.arguments)
                definition = settings.narrow_definition(remote.to_definition())
                return write_tool(definition, signature, title="", is_repeatable=False)
        raise KeyError(name)


def write_tool(definition: Mapping[str, Any], signature: FlowSignature, *, title: str, is_repeatable: bool) -> dict[str, Any]:
    """Return a tool of the Messages API's form as the protocol has it, with hints from what its calls may do."""
    annotations: dict[str, Any] = {"readOnlyHint": not signature.changes}
    if signature.changes:
        annotations |= {"destructiveHint": signature.destroys, "idempotentHint": is_repeatable}
    tool = TOOLS.get(definition["name"])
    annotations["openWorldHint"] = tool is None or tool.policy.wrapped
    described = {
        "name": definition["name"],
        "description": definition["description"],
        "inputSchema": drop_annotations(definition["input_schema"]),
        "outputSchema": OUTPUT_SCHEMA,
        "annotations": annotations,
    }
    return {**described, "title": title} if title else described


def drop_annotations(schema: Any) -> Any:
    """Return a schema without its `x-mcp-header`: a document that was imported would have arguments sent in headers by it."""
    if isinstance(schema, Mapping):
        pairs = ((name, value) for name, value in schema.items() if name != ANNOTATION or not isinstance(value, str))
        return {name: drop_annotations(value) for name, value in pairs}
    return [drop_annotations(value) for value in schema] if isinstance(schema, list | tuple) else schema


async def find_agent(deps: ApiDependencies, caller: McpCaller) -> Agent:
    """Return the agent that the request names, or the default one. Raise `NotFoundError`, and 409 for an archived one."""
    here = caller.caller
    name = caller.agent or derive_default_agent(here.workspace)
    agent = await deps.agents.get(name, owner=here.owner.id, workspace=here.workspace) if is_id(name) else None
    if agent is None:
        raise NotFoundError("agent")
    if agent.archived:
        raise ConflictError(ARCHIVED)
    return agent


async def read_tools(deps: ApiDependencies, caller: McpCaller, *, only: str | None = None) -> AgentTools:
    """Return the agent that the request names with its tools, or with that of the name `only`, which is read sooner.

    Raise as `find_agent` does. Nothing is stored.
    """
    agent = await find_agent(deps, caller)
    here = caller.caller
    plan = get_plan(deps, here.owner)
    task = await deps.tasks.get(derive_chat_task(agent.id))
    if task is None:
        task = build_chat_task(agent, plan, deps.tools, now=deps.clock.now())
    workspace = await deps.workspaces.get(here.workspace, owner=here.owner.id)
    limiting = () if workspace is None else workspace.allowed_tools
    limits = ToolLimits(agent=agent.allowed_tools, workspace=limiting, plan=plan.tools)
    services = {sealed.label.service for sealed in await deps.credentials.list(task.id)}
    enabled = set(_select(agent, limits, list_enabled(task)))
    offered = (
        tool
        for tool in deps.tools
        if only in (None, tool.name) and tool.name in enabled and (tool.requires is None or tool.requires in services)
    )
    declared = [tool for tool in await _read_declared(deps, task, only) if tool.enabled]
    admitted = set(_select(agent, limits, [tool.name for tool in declared]))
    listed = await read_accepted(deps, agent, only)
    accepted = set(_select(agent, limits, [tool.name for tool in listed]))
    scopes = here.key.tools
    return AgentTools(
        agent=agent,
        task=task,
        built_in=tuple(tool for tool in offered if _covers(scopes, tool)),
        declared=tuple(
            tool for tool in declared if tool.name in admitted and covers_tool(scopes, tool.name, DECLARED.category)
        ),
        remote=tuple(tool for tool in listed if tool.name in accepted and covers_tool(scopes, tool.name, REMOTE.category)),
    )


async def read_version(deps: ApiDependencies, caller: McpCaller) -> Hashable:
    """Return what changes whenever the agent's tools do, as it does now and then otherwise; no declared tool is read for it."""
    agent = await find_agent(deps, caller)
    here = caller.caller
    task = await deps.tasks.get(derive_chat_task(agent.id))
    workspace = await deps.workspaces.get(here.workspace, owner=here.owner.id)
    clusters, services = [], frozenset[str]()
    if task is not None:
        clusters = [(cluster.name, cluster.generation) for cluster in await deps.clusters.list(task.id)]
        services = frozenset(sealed.label.service for sealed in await deps.credentials.list(task.id))
    servers = await deps.remote_servers.list(agent.id, owner=agent.owner, workspace=agent.workspace)
    return (
        tuple((server.name, tuple(fingerprint_tools(server).items())) for server in servers),
        *(agent.updated_at, agent.tools_enabled, agent.enabled_tools, agent.allowed_tools),
        None if workspace is None else (workspace.updated_at, workspace.allowed_tools),
        None if task is None else (task.updated_at, task.tools, task.tool_loading),
        *(here.owner.plan, here.key.tools, tuple(clusters), services),
    )


async def _read_declared(deps: ApiDependencies, task: Task, only: str | None) -> Sequence[DeclaredTool]:
    if only is None:
        return await deps.clusters.tools(task.id)
    declared = None if only in TOOLS else await deps.clusters.find(task.id, only)
    return () if declared is None else (declared,)


async def read_accepted(deps: ApiDependencies, agent: Agent, only: str | None) -> Sequence[RemoteTool]:
    """Return the accepted tools of the agent's MCP servers, or the one of the name `only`. Raise `UnavailableError`."""
    if only is not None and not is_remote_name(only):
        return ()
    tools: list[RemoteTool] = []
    for server in await deps.remote_servers.list(agent.id, owner=agent.owner, workspace=agent.workspace):
        if server.list_accepted() and only in (None, *fingerprint_tools(server)):
            texts = await deps.remote_servers.descriptors(server.id, list_model_texts(server))
            try:
                tools += await offload.run(agent.owner, offload.DOCUMENT, build_tools, server, dict(texts))
            except offload.OverBudgetError as error:
                raise UnavailableError(f"the tools of an MCP server cannot be read: {error}") from None
    return [tool for tool in tools if only in (None, tool.name)]


def _covers(scopes: Collection[str] | None, tool: Tool) -> bool:
    """Tell whether an API key with these scopes may call a built-in tool: one that calls others where it is named alone, and
    none of those that are about other calls of the same execution."""
    if tool.kind in OF_CALLS:
        return False
    if tool.calls_others:
        return scopes is None or names_tool(scopes, tool.name)
    return covers_tool(scopes, tool.name, tool.category)


def _select(agent: Agent, limits: ToolLimits, tools: Sequence[str]) -> Sequence[str]:
    return agent.select_enabled(limits.select(tools))
