"""MCP servers of agents over HTTP: added, listed, changed and removed, and their tools accepted by people.

Nothing is fetched here: a key holder lists the tools of a server, and stores what they became.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.changes import change_value
from ferryman.domain.ids import is_id
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.remote_servers.names import find_server_name_problem
from ferryman.domain.remote_servers.pin import PinState
from ferryman.domain.remote_servers.pins import accept_pins, disable_pins, forget_acceptance
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth, ServerState
from ferryman.domain.remote_servers.server_problems import find_url_problems
from ferryman.domain.workspaces.agent import Agent
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import READS, Dependencies, Manager, Reader
from ferryman.serving.api.agents import OwnedAgent
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.remote_tools import describe_tools
from ferryman.serving.api.server_values import delete_unnamed, read_values, seal_values
from ferryman.serving.api.shapes import remote_server as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/agents/{agent_id}/mcp", tags=["MCP servers"])


async def find_server(deps: ApiDependencies, agent: Agent, server: str) -> RemoteServer:
    """Return the server of this id of `agent`. Raise `NotFoundError`."""
    stored = await deps.remote_servers.get(server) if is_id(server) else None
    if stored is None or stored.place != (agent.owner, agent.workspace, agent.id):
        raise NotFoundError("MCP server")
    return stored


async def _server(server_id: str, agent: OwnedAgent, deps: Dependencies) -> RemoteServer:
    return await find_server(deps, agent, server_id)


OwnedServer = Annotated[RemoteServer, Depends(_server)]


@router.post("", status_code=201, summary="Add an MCP server to an agent, and list its tools")
async def create_mcp_server(
    body: shapes.NewRemoteServer, agent: OwnedAgent, deps: Dependencies, _: Manager, once: Idempotency, response: Response
) -> shapes.RemoteServerResponse:
    known = body.auth
    read = read_values(
        body.headers, body.credentials, auth=None if known is None else known.type, token=None if known is None else known.token
    )
    problems = [*_find_server_name_problems(body.name), *find_url_problems(body.url), *read.problems]
    if problems:
        raise InvalidInputError(problems)
    server = RemoteServer(
        id=once.name("mcp"),
        owner=agent.owner,
        workspace=agent.workspace,
        agent=agent.id,
        name=body.name,
        url=body.url,
        auth=read.auth,
        headers=read.headers,
        created_at=once.now,
        updated_at=once.now,
    )
    location = f"/v1/agents/{agent.id}/mcp/{server.id}"
    await deps.remote_servers.create(server)  # again in the next attempt under the same key, which changes nothing
    try:
        await seal_values(deps, server, read.values)
    except BaseException:
        await deps.remote_servers.delete(server.id)
        raise
    response.headers["Location"] = location
    return describe_server(await _try_to_list(deps, server))


@router.get("", summary="The MCP servers of an agent")
async def list_mcp_servers(agent: OwnedAgent, deps: Dependencies, _: Reader, paging: ByName) -> shapes.RemoteServerList:
    servers = await deps.remote_servers.list(agent.id, owner=agent.owner, workspace=agent.workspace)
    here, following = cut_by_name(servers, paging, lambda server: server.name)
    return shapes.RemoteServerList(servers=tuple(map(describe_server, here)), next=following)


@router.get("/{server_id}", dependencies=[READS], summary="One MCP server of an agent")
async def get_mcp_server(server: OwnedServer) -> shapes.RemoteServerResponse:
    return describe_server(server)


@router.patch("/{server_id}", summary="Enable or disable an MCP server, or change where it is")
async def change_mcp_server(
    body: shapes.RemoteServerChange, server: OwnedServer, deps: Dependencies, _: Manager
) -> shapes.RemoteServerResponse:
    fields, changes, read = body.model_fields_set, dict[str, Any](), None
    problems = [] if "url" not in fields else find_url_problems(body.url)
    if "headers" in fields:
        read = read_values(body.headers, {}, auth=ServerAuth.OAUTH if server.auth is ServerAuth.OAUTH else None)
        problems += read.problems
        changes |= {"headers": read.headers, "auth": read.auth}
    if problems:
        raise InvalidInputError(problems)
    if "enabled" in fields:
        changes["enabled"] = body.enabled
    if "disable" in fields:
        changes["pins"] = disable_pins(server.pins, frozenset(body.disable))
    is_moved = "url" in fields and body.url != server.url
    if is_moved:
        changes |= {"url": body.url, "pins": forget_acceptance(server.pins), "authorization": None, "state": ServerState.NEW}
        changes |= {"revision": None, "listed_at": None, "verified_at": None}  # none of it is known of the new one
    changed = change_value(server, changes, now=deps.clock.now())
    if read is not None:
        await seal_values(deps, changed, read.values)
    stored = await deps.remote_servers.update(changed, [*changes], since=server.generation)
    await delete_unnamed(deps, server, stored)
    return describe_server(await _try_to_list(deps, stored) if is_moved or read is not None else stored)


@router.delete("/{server_id}", status_code=204, summary="Remove an MCP server, with its credentials")
async def delete_mcp_server(server: OwnedServer, deps: Dependencies, _: Manager) -> None:
    await deps.remote_servers.delete(server.id)


@router.get("/{server_id}/tools", dependencies=[READS], summary="The tools of an MCP server, and what is new or changed")
async def list_mcp_tools(server: OwnedServer, deps: Dependencies, paging: ByName) -> shapes.RemoteToolList:
    here, following = cut_by_name(server.pins, paging, lambda pin: pin.tool)
    return shapes.RemoteToolList(data=await describe_tools(deps, server, here), next=following)


@router.post("/{server_id}/accept", summary="Accept tools of an MCP server as they are listed")
async def accept_mcp_tools(
    body: shapes.Acceptance, server: OwnedServer, deps: Dependencies, _: Manager, once: Idempotency
) -> shapes.RemoteServerResponse:
    pins = accept_pins(server.pins, body.digests, now=once.now)
    changed = change_value(server, {"pins": pins}, now=once.now)
    return describe_server(await deps.remote_servers.update(changed, ["pins"], since=server.generation))


@router.post("/{server_id}/refresh", summary="List the tools of an MCP server again")
async def refresh_mcp_server(server: OwnedServer, deps: Dependencies, _: Manager) -> shapes.RemoteServerResponse:
    return describe_server(await _list(deps, server))


def describe_server(server: RemoteServer) -> shapes.RemoteServerResponse:
    """Return the response for `server`."""
    counts = Counter(pin.state for pin in server.pins)
    info = server.info
    return shapes.RemoteServerResponse(
        server_id=server.id,
        agent_id=server.agent,
        name=server.name,
        url=server.url,
        auth=server.auth,
        headers=dict(server.headers),
        enabled=server.enabled,
        state=server.state,
        detail=server.detail,
        title="" if info is None else info.title or info.name,
        version="" if info is None else info.version,
        instructions=server.instructions,
        revision=server.revision,
        issuer=None if server.authorization is None else server.authorization.issuer,
        tools={state: counts[state] for state in PinState},
        listed_at=server.listed_at,
        verified_at=server.verified_at,
        created_at=server.created_at,
        updated_at=server.updated_at,
    )


def _find_server_name_problems(name: str) -> Collection[Problem]:
    problem = find_server_name_problem(name)
    return [] if problem is None else [Problem("name", problem)]


async def _try_to_list(deps: ApiDependencies, server: RemoteServer) -> RemoteServer:
    """Return `server` as `_list` does, or as it is where the key holder does not answer: it is stored, and can be refreshed."""
    try:
        return await _list(deps, server)
    except UnavailableError:
        return server


async def _list(deps: ApiDependencies, server: RemoteServer) -> RemoteServer:
    """Have a key holder list the tools of `server`, and return it as it is stored then."""
    await deps.server_lister.list_tools(server.id, owner=server.owner)
    stored = await deps.remote_servers.get(server.id)
    if stored is None:
        raise ConflictError("the MCP server was removed meanwhile")
    return stored
