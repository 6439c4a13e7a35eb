"""The MCP servers of an agent: added, changed and removed, their tools accepted as they were read, and connected by consent."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.consents import MCP, choose_redirect_uri, show_consent
from ferryman.serving.console.form_fields import list_problems, read_body, repeat_values, require_consent, write_values
from ferryman.serving.console.pages.agents import PATH as AGENTS
from ferryman.serving.console.pages.credentials import CLIENT_FIELDS
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest, ConsoleRoute, Redirect
from ferryman.serving.console.server_form import (
    AUTH_LABELS,
    FIELDS,
    label_errors,
    list_rows,
    place_errors,
    read_headers,
    read_server,
)
from ferryman.serving.console.tool_review import read_choices, review_tool

PATH = f"{AGENTS}/{{agent}}/servers"
TOOLS_MAX = 25
"""How many tools are on one page of a server: each with whole texts."""


async def show_servers(request: ConsoleRequest) -> ConsolePage:
    """Show the MCP servers of an agent, and the form that adds one."""
    return await _show_servers(request)


async def add_server(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Add an MCP server, and have its tools listed."""
    try:
        added = await request.api.post(_locate(request), read_server(request.form), once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show_servers(request, error)
    return Redirect(path=f"{AGENTS}/{request.params['agent']}/servers/{added['server_id']}", done="added")


async def show_server(request: ConsoleRequest) -> ConsolePage:
    """Show an MCP server and its tools; new and changed ones wait to be accepted."""
    return await _show(request)


async def accept_tools(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Accept the tools whose boxes were ticked, as they were shown; one that has changed meanwhile has nothing accepted."""
    digests = _read_ticked(request)
    try:
        await request.api.post(f"{_locate(request)}/{request.params['server']}/accept", {"digests": digests})
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="accepted")


async def disable_tools(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Disable the ticked tools: they are neither offered nor called until a person accepts them again."""
    return await _change(request, {"disable": [*_read_ticked(request)]})


async def enable_server(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Have the accepted tools of the server offered again."""
    return await _change(request, {"enabled": True})


async def disable_server(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Have no tool of the server offered or called."""
    return await _change(request, {"enabled": False})


async def move_server(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Change the URL of the server: all of its tools wait to be accepted again."""
    return await _change(request, {"url": request.read_field("url").strip()})


async def replace_headers(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Replace all headers that the server is sent; those that were not typed are sent no longer."""
    return await _change(request, read_headers(request.form, names=False))


async def refresh_server(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Have the tools of the server listed again."""
    try:
        await request.api.post(f"{_locate(request)}/{request.params['server']}/refresh")
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="refreshed")


async def remove_server(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Remove the server with its credentials, where the box of the form was ticked."""
    require_consent(request.form)
    try:
        await request.api.delete(f"{_locate(request)}/{request.params['server']}")
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=f"{AGENTS}/{request.params['agent']}/servers", done="removed")


async def show_connect(request: ConsoleRequest) -> ConsolePage:
    """Show the form that begins a consent to the server."""
    return await _show_connect(request)


async def begin_consent(request: ConsoleRequest) -> ConsolePage:
    """Have it found out who authorizes for the server, and show the link to its page."""
    body = read_body(CLIENT_FIELDS, request.form)
    connect = f"{_locate(request)}/{request.params['server']}/connect"
    try:
        begun = await request.api.post(connect, {**body, "redirect_uri": choose_redirect_uri(request, MCP)})
    except ApiProblemError as error:
        return await _show_connect(request, error)
    page = f"{AGENTS}/{request.params['agent']}/servers/{request.params['server']}"
    return show_consent(request, begun, place=MCP, connect=connect, page=page)


def _locate(request: ConsoleRequest) -> str:
    return f"/v1/agents/{request.params['agent']}/mcp"


def _read_ticked(request: ConsoleRequest) -> dict[str, str]:
    """Return the digests of the tools whose boxes were ticked, by name. Raise 422 where none was."""
    ticked = read_choices(request.form.get("tool", ()))
    if not ticked:
        raise HTTPException(422, "tool: tick the box of at least one tool")
    return ticked


async def _change(request: ConsoleRequest, change: dict[str, Any]) -> ConsolePage | Redirect:
    try:
        await request.api.patch(f"{_locate(request)}/{request.params['server']}", change)
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="saved")


async def _show_servers(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    agent, listed = await ask_together(
        request.api.get(f"/v1/agents/{request.params['agent']}"), request.api.get(_locate(request), limit=100)
    )
    errors = place_errors(list_problems(refused), request.form)
    return ConsolePage(
        template="servers.html",
        title=f"MCP servers of {show_text(agent['name'])}",
        values={
            "agent": agent,
            "listed": listed,
            "auth_labels": AUTH_LABELS,
            "fields": FIELDS,
            "values": write_values(FIELDS, {"auth": "none"}) if refused is None else repeat_values(FIELDS, request.form),
            "rows": list_rows(request.form),
            "errors": errors,
            "labelled_errors": label_errors(errors),
            "here": f"{AGENTS}/{agent['agent_id']}/servers",
        },
        status=200 if refused is None else refused.status,
    )


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    path = f"{_locate(request)}/{request.params['server']}"
    agent, server, tools = await ask_together(
        request.api.get(f"/v1/agents/{request.params['agent']}"),
        request.api.get(path),
        request.api.get(f"{path}/tools", limit=TOOLS_MAX, cursor=request.query.get("cursor")),
    )
    errors = place_errors(list_problems(refused), request.form)
    page = f"{AGENTS}/{agent['agent_id']}/servers"
    return ConsolePage(
        template="server.html",
        title=f"MCP server {show_text(server['name'])}",
        values={
            "agent": agent,
            "server": server,
            "auth_labels": AUTH_LABELS,
            "tools": await to_thread(_review_all, tools["data"]),
            "next": tools["next"],
            "url_typed": request.read_field("url") or server["url"],
            "rows": list_rows(request.form),
            "errors": errors,
            "labelled_errors": {show_text(name): show_text(message) for name, message in label_errors(errors).items()},
            "servers_page": page,
            "here": f"{page}/{server['server_id']}",
        },
        status=200 if refused is None else refused.status,
    )


def _review_all(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page shows of each tool: texts of strangers, of 64 KiB each."""
    return [review_tool(tool) for tool in tools]


async def _show_connect(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    server = await request.api.get(f"{_locate(request)}/{request.params['server']}")
    back = f"{AGENTS}/{request.params['agent']}/servers/{request.params['server']}"
    return ConsolePage(
        template="connect.html",
        title="Connect by consent",
        values={
            "back": back,
            "back_label": "MCP server",
            "subject": server["name"],
            "is_possible": server["auth"] == "oauth",
            "fields": CLIENT_FIELDS,
            "values": repeat_values(CLIENT_FIELDS, request.form),
            "errors": list_problems(refused),
            "here": f"{back}/connect",
        },
        status=200 if refused is None else refused.status,
    )


ROUTES = (
    ConsoleRoute(path=PATH, show=show_servers, section="agents", actions={"add": add_server}),
    ConsoleRoute(
        path=f"{PATH}/{{server}}",
        show=show_server,
        section="agents",
        actions={
            "accept": accept_tools,
            "disable-tools": disable_tools,
            "enable": enable_server,
            "disable": disable_server,
            "move": move_server,
            "headers": replace_headers,
            "refresh": refresh_server,
            "remove": remove_server,
        },
    ),
    ConsoleRoute(path=f"{PATH}/{{server}}/connect", show=show_connect, section="agents", actions={"connect": begin_consent}),
)
