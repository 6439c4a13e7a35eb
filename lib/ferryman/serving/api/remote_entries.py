"""Entries of a task's list of tools that name a tool of an MCP server by the server's id (S3-44): written as its name."""

from __future__ import annotations

from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.ids import is_id
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.serving.api.rights import Caller

TYPE = "mcp"


async def name_remote_tools(deps: ApiDependencies, caller: Caller, body: Any, agent: str) -> Any:
    """Return `body` with each entry `{"type": "mcp", "config": {"server_id", "tool_name"}}` as the name of that tool.

    Raise `InvalidInputError` for a tool that no MCP server of the agent has; "" is the workspace's default agent.
    """
    entries = [tool for tool in body.tools if _is_entry(tool)]
    if not entries:
        return body
    agent, problems, tools = agent or derive_default_agent(caller.workspace), list[Problem](), list[Any]()
    for index, tool in enumerate(body.tools):
        name = await _find_name(deps, caller, tool, agent) if _is_entry(tool) else tool
        if name is None:
            message = "must name a tool of an MCP server of the task's agent: {config: {server_id, tool_name}}"
            problems.append(Problem(f"tools.{index}", message))
        tools.append(name)
    if problems:
        raise InvalidInputError(problems)
    return body.model_copy(update={"tools": tuple(tools)})


def _is_entry(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type") == TYPE


async def _find_name(deps: ApiDependencies, caller: Caller, entry: dict[str, Any], agent: str) -> str | None:
    config = entry.get("config")
    if entry.keys() != {"type", "config"} or not isinstance(config, dict) or config.keys() != {"server_id", "tool_name"}:
        return None
    server_id, tool = config["server_id"], config["tool_name"]
    server = await deps.remote_servers.get(server_id) if isinstance(server_id, str) and is_id(server_id) else None
    if server is None or server.place != (caller.owner.id, caller.workspace, agent):
        return None
    return next((pin.name for pin in server.pins if pin.tool == tool), None)
