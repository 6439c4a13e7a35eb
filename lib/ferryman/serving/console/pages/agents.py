"""Agents: the list with archived ones, a new one from a template, and one with its settings and its tool policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.agents.rules import SETTINGS_MAX
from ferryman.domain.approvals.rules import RULES_MAX
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.tasks.task import DESCRIPTION_CHARACTERS_MAX, PROMPT_CHARACTERS_MAX
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.form_fields import (
    FormField,
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

WORK, TOOLS, CHAT, LIMITS = "What it does", "Tools", "Conversations", "Limits"
"""The headings of the form."""

TITLES = (("first_line", "their first message"), ("model", "the model"))


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
    fields = _build_new_fields([], [])
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
    fields = _build_fields([])
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
    fields = _build_new_fields(templates["templates"], models["models"])
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
    fields = _build_fields(models["models"])
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


def _build_new_fields(templates: list[Mapping[str, Any]], models: list[Mapping[str, Any]]) -> tuple[FormField, ...]:
    options = [("", "none"), *((item["id"], show_text(item["name"])) for item in templates)]
    return (
        FormField(name="template", label="Template", kind="choice", options=options, when_empty="omit"),
        FormField(name="name", label="Name", when_empty="omit", help="Empty: the template's"),
        FormField(name="description", label="Description", when_empty="omit", help="Empty: the template's"),
        FormField(name="system_prompt", label="System prompt", kind="long", when_empty="omit", help="Empty: the template's"),
        FormField(name="model", label="Model", when_empty="omit", help=_write_models(models)),
    )


def _build_fields(models: list[Mapping[str, Any]]) -> tuple[FormField, ...]:
    return (
        FormField(name="name", label="Name", group=WORK, is_required=True),
        FormField(
            name="system_prompt",
            label="System prompt",
            kind="long",
            group=WORK,
            help="Sent before the task's system prompt. May use {{date}}, {{datetime}}, {{execution_id}} and {{task_name}}; "
            f"at most {PROMPT_CHARACTERS_MAX:,} characters",
        ),
        FormField(name="model", label="Model", group=WORK, when_empty="null", help=_write_models(models)),
        FormField(
            name="description",
            label="Description",
            group=WORK,
            is_rare=True,
            help=f"For people; at most {DESCRIPTION_CHARACTERS_MAX:,} characters",
        ),
        FormField(
            name="allowed_tools",
            label="Allowed tools",
            kind="lines",
            group=TOOLS,
            help="One name per line; empty: every tool. The table below shows the result",
        ),
        FormField(
            name="tool_settings",
            label="Tool settings",
            kind="json",
            group=TOOLS,
            is_rare=True,
            when_empty="omit",
            help=f"For at most {SETTINGS_MAX} tools, by name: calls_max, timeout_s, fixed arguments, and flow",
        ),
        FormField(
            name="approvals",
            label="Approval rules",
            kind="json",
            group=TOOLS,
            is_rare=True,
            when_empty="omit",
            help=f"A list of at most {RULES_MAX} rules, as in the API",
        ),
        FormField(name="tools_enabled", label="Conversations may use tools", kind="check", group=CHAT),
        FormField(
            name="enabled_tools",
            label="Tools of conversations",
            kind="json",
            group=CHAT,
            is_rare=True,
            when_empty="null",
            help='Empty: all allowed tools; a list such as ["http_get"]: only those; []: none',
        ),
        FormField(name="titles", label="Titles are written by", kind="choice", group=CHAT, is_rare=True, options=TITLES),
        FormField(
            name="max_credits_month",
            label="Monthly credit limit",
            kind="number",
            group=LIMITS,
            when_empty="null",
            help="Empty: only the limits of the workspace and the plan",
        ),
        FormField(
            name="conversation_credits_max",
            label="Monthly credit limit per conversation",
            kind="number",
            group=LIMITS,
            when_empty="null",
            help="Empty: the workspace's limit",
        ),
    )


def _write_models(models: list[Mapping[str, Any]]) -> str:
    return f"Empty: each task sets one. Known: {', '.join(model['name'] for model in models)}"


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
