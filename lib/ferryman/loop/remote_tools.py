"""The tools of the agent's MCP servers that an execution may begin with: accepted by a person, and read from the store alone.

No server is asked: what models read was stored when the tool was listed, and its function verifies it before a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ferryman import offload
from ferryman.domain.executions.execution import Execution
from ferryman.domain.remote_servers.names import is_remote_name, split_name
from ferryman.domain.remote_servers.offered import RemoteTool, build_tools, list_model_texts
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.loop.tool_offer import REACHING
from ferryman.ports.errors import UnavailableError
from ferryman.ports.remote_servers import RemoteServers

INLINE_CHARACTERS_MAX = 50_000
"""Texts of up to so many characters are read in this process, in half a millisecond."""

offload.preload(build_tools)


async def read_remote(servers: RemoteServers | None, execution: Execution) -> Sequence[RemoteTool]:
    """Return the accepted tools of the enabled MCP servers of the execution's agent; of a direct call itself alone, unless it
    finds others. Raise `UnavailableError`."""
    tool = execution.called_tool
    if servers is None or (tool and tool not in REACHING and not is_remote_name(tool)):
        return ()
    only = split_name(tool)[0] if tool and is_remote_name(tool) else None
    stored = await servers.list(execution.agent, owner=execution.owner, workspace=execution.workspace)
    used = [server for server in stored if server.list_accepted() and only in (None, server.name)]
    tools = await asyncio.gather(*(read_tools(servers, server) for server in used))
    return [offered for of_server in tools for offered in of_server if only is None or offered.name == tool]


async def read_tools(servers: RemoteServers, server: RemoteServer) -> Sequence[RemoteTool]:
    """Return the accepted tools of `server`. Raise `UnavailableError`."""
    texts = await servers.descriptors(server.id, list_model_texts(server))
    if sum(map(len, texts.values())) <= INLINE_CHARACTERS_MAX:
        return build_tools(server, texts)
    try:
        return await offload.run(server.owner, offload.DOCUMENT, build_tools, server, dict(texts))
    except offload.OverBudgetError as error:
        raise UnavailableError(f"the tools of the MCP server {server.name} cannot be read: {error}") from None
