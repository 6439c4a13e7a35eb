"""Refreshing an MCP server for its owner: its tools are listed, compared with the pins and stored, or why that failed."""

from __future__ import annotations

from ferryman.domain.problem import InvalidInputError
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth, ServerState
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from ferryman.tools.mcp.contacting import (
    RemoteCallDependencies,
    UnauthorizedServerError,
    UnreachableServerError,
    list_tools,
)
from ferryman.tools.mcp.listing import note_failure, store_listing

STEPS = {
    ServerAuth.OAUTH: "connect it: ferryman mcp connect {name}",
    ServerAuth.NONE: "give it a key: ferryman mcp update {name} --header HEADER; or add it again with --oauth",
    ServerAuth.HEADERS: "check the values of its headers: ferryman mcp update {name} --header HEADER",
    ServerAuth.BEARER: "check its token: ferryman mcp update {name} --header Authorization",
}
"""What a person does about a server that wants to know who asks."""


async def refresh_server(remote: RemoteCallDependencies, server: str, *, owner: str) -> RemoteServer:
    """Return the server as it is stored after an attempt to list its tools, whose outcome is its `state` and its `detail`.

    Raise `StaleError` for a server that `owner` does not have, and `UnavailableError`.
    """
    stored = await remote.servers.get(server)
    if stored is None or stored.owner != owner:
        raise StaleError("there is no such MCP server")
    now = remote.tools.clock.now()
    try:
        listing = await list_tools(remote, stored)
        return await store_listing(remote.servers, stored, listing, now=now)
    except UnauthorizedServerError as error:
        step = STEPS[stored.auth].format(name=stored.name)
        state, detail = ServerState.NEEDS_AUTHORIZATION, f"{error}; {step}"
    except UnreachableServerError as error:
        state, detail = ServerState.UNREACHABLE, str(error)
    except InvalidInputError as error:
        state, detail = ServerState.UNREACHABLE, "; ".join(problem.message for problem in error.problems)
    except UnavailableError as error:
        state, detail = ServerState.UNREACHABLE, f"{error}; try again: ferryman mcp refresh {stored.name}"
    return await note_failure(remote.servers, stored, state, detail, now=now)
