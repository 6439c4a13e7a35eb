"""Agents: the list with archived ones, a new one from a template, and one with its settings and its tool policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.agent_fields import build_agent_fields, build_new_agent_fields
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.form_fields import (
    find_changes,
    group_fields,
    list_problems,
    read_body,
    repeat_values,
    require_consent,
    write_values,
)
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/agents"
NEW_PATH = f"{PATH}/new"
POLICY_MAX = 100
"""How many tools of an agent's policy are on one page."""


async def show_agents(request: ConsoleRequest) -> ConsolePage:
    """Show the agents of the workspace, those that are archived last."""
    listed = await request.api.get("/v1/agents", limit=100)
    agents = sorted(listed["agents"], key=lambda agent: agent["archived"])
    return ConsolePage(template="agents.html", title="Agents", values={"agents": agents, "more": listed["next"]})


async def show_new_agent(request: ConsoleRequest) -> ConsolePage:
    """Show the form of an agent that is not there yet."""
    return await _show_new(request)


async def create_agent(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Create the agent; empty fields take the template's values."""
    fields = build_new_agent_fields([], [])
    try:
        created = await request.api.post("/v1/agents", read_body(fields, request.form), once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show_new(request, error)
    return Redirect(path=f"{PATH}/{created['agent_id']}", done="created")


async def show_agent(request: ConsoleRequest) -> ConsolePage:
    """Show an agent: its fields, and which tools it may call."""
    return await _show(request)


async def change_agent(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the fields that differ from what is stored."""
    fields = build_agent_fields([])
    try:
        stored = await _get(request)
        changes = find_changes(read_body(fields, request.form), stored)
        if changes:
            await request.api.patch(f"/v1/agents/{stored['agent_id']}", changes)
    except ApiProblemError as error:
        return await _show(request, error, typed=repeat_values(fields, request.form))
    return Redirect(path=request.path, done="saved")


async def archive_agent(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Have none of the agent's tasks started until it is restored."""
    return await _post(request, "archive", "archived")


async def restore_agent(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Make an archived agent active again."""
    return await _post(request, "restore", "restored")


async def delete_agent(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Delete the agent, with its tasks where that box was ticked, too."""
    require_consent(request.form)
    tasks = "delete" if request.read_field("tasks") == "true" else "refuse"
    try:
        await request.api.delete(f"/v1/agents/{request.params['agent']}", tasks=tasks)
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=PATH, done="deleting")


async def _post(request: ConsoleRequest, action: str, done: str) -> ConsolePage | Redirect:
    try:
        await request.api.post(f"/v1/agents/{request.params['agent']}/{action}")
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done=done)


async def _get(request: ConsoleRequest) -> dict[str, Any]:
    agent: dict[str, Any] = await request.api.get(f"/v1/agents/{request.params['agent']}")
    return agent


async def _show_new(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    templates, models = await ask_together(
        request.api.get("/v1/agent-templates", limit=100), request.api.get("/v1/models", limit=100)
    )
    fields = build_new_agent_fields(templates["templates"], models["models"])
    return ConsolePage(
        template="agent_new.html",
        title="New agent",
        values={
            "templates": templates["templates"],
            "fields": fields,
            "values": write_values(fields, {}) if refused is None else repeat_values(fields, request.form),
            "errors": list_problems(refused),
        },
        status=200 if refused is None else refused.status,
    )


async def _show(
    request: ConsoleRequest, refused: ApiProblemError | None = None, typed: Mapping[str, str] | None = None
) -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    path = f"/v1/agents/{request.params['agent']}"
    agent, servers, policy, models = await ask_together(
        _get(request),
        request.api.get(f"{path}/mcp", limit=100),
        request.api.get(f"{path}/policy", limit=POLICY_MAX, cursor=request.query.get("cursor")),
        request.api.get("/v1/models", limit=100),
    )
    fields = build_agent_fields(models["models"])
    return ConsolePage(
        template="agent.html",
        title=show_text(agent["name"]),
        values={
            "agent": agent,
            "servers": servers["servers"],
            "policy": policy,
            "groups": group_fields(fields),
            "values": typed or write_values(fields, agent),
            "errors": list_problems(refused),
            "here": f"{PATH}/{agent['agent_id']}",
        },
        status=200 if refused is None else refused.status,
    )


ROUTES = (
    ConsoleRoute(path=PATH, show=show_agents, section="agents"),
    ConsoleRoute(path=NEW_PATH, show=show_new_agent, section="agents", actions={"create": create_agent}),
    ConsoleRoute(
        path=f"{PATH}/{{agent}}",
        show=show_agent,
        section="agents",
        actions={"change": change_agent, "archive": archive_agent, "restore": restore_agent, "delete": delete_agent},
    ),
)
