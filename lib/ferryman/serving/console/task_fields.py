"""The fields of the form of a task, by group: labels, help with limits, and the agents and models to choose from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.domain.tasks.task import (
    NAME_CHARACTERS_MAX,
    PROMPT_CHARACTERS_MAX,
    WEBHOOK_URLS_MAX,
)
from ferryman.serving.console.common_fields import APPROVAL_RULES, DESCRIPTION, LIMITS, TOOLS, WORK
from ferryman.serving.console.form_fields import FormField
from ferryman.serving.console.routing import ConsoleRequest

SCHEDULES = (
    ("", "none: only when a person or a client starts it"),
    ("cron", "repeatedly (cron)"),
    ("once", "once, at a time"),
    ("delayed", "once, after a delay"),
)
MODEL, SCHEDULE = "Model", "When it runs"
"""Further headings of the form."""

SCHEDULE_FIELDS = (
    FormField(name="schedule.type", label="Schedule", kind="choice", group=SCHEDULE, options=SCHEDULES, when_empty="omit"),
    FormField(
        name="schedule.cron",
        label="Cron expression",
        group=SCHEDULE,
        help="Five fields in UTC, for example 0 9 * * MON-FRI",
        when_empty="omit",
    ),
    FormField(
        name="schedule.at",
        label="Time",
        group=SCHEDULE,
        help="For example 2026-12-01T09:00:00Z; at most ten years ahead",
        when_empty="omit",
    ),
    FormField(
        name="schedule.after_s",
        label="Delay (seconds)",
        kind="number",
        group=SCHEDULE,
        help="Counted from when the task is saved or enabled",
        when_empty="omit",
    ),
)


def _list_agent_options(agents: Sequence[Mapping[str, Any]], stored: str) -> list[tuple[str, str]]:
    """Return the agents that a task can have, and its present one even if that is archived or deleted."""
    options = [(agent["agent_id"], show_text(agent["name"])) for agent in agents if not agent["archived"]]
    if stored and stored not in dict(options):
        names = {agent["agent_id"]: show_text(agent["name"]) for agent in agents}
        options.append((stored, f"{names.get(stored, stored)} (archived)" if stored in names else stored))
    return options


async def build_task_fields(request: ConsoleRequest, agent: str = "") -> tuple[FormField, ...]:
    """Return the fields of a task, with the agents and models that it may name; `agent` is the one that it has."""
    agents, models = await asyncio.gather(request.api.get("/v1/agents", limit=100), request.api.get("/v1/models", limit=100))
    agent_options = _list_agent_options(agents["agents"], agent)
    named = ", ".join(model["name"] for model in models["models"])
    return (
        FormField(name="name", label="Name", group=WORK, is_required=True, help=f"At most {NAME_CHARACTERS_MAX} characters"),
        FormField(
            name="task_prompt",
            label="Prompt",
            kind="long",
            group=WORK,
            is_required=True,
            help="What the agent does. May use {{date}}, {{datetime}}, {{execution_id}} and {{task_name}}; "
            f"at most {PROMPT_CHARACTERS_MAX:,} characters",
        ),
        FormField(name="enabled", label="Enabled: it may be started, and its schedule runs", kind="check", group=WORK),
        DESCRIPTION,
        FormField(
            name="system_prompt",
            label="System prompt",
            kind="long",
            group=WORK,
            is_rare=True,
            help=f"Added after the system prompt of the agent; at most {PROMPT_CHARACTERS_MAX:,} characters",
        ),
        FormField(name="agent_id", label="Agent", kind="choice", group=MODEL, options=agent_options, when_empty="null"),
        FormField(
            name="model", label="Model", group=MODEL, when_empty="null", help=f"Empty: the agent's model. Known: {named}"
        ),
        FormField(
            name="temperature",
            label="Temperature",
            group=MODEL,
            is_rare=True,
            help="0 to 1; empty: not sent, for models without this setting",
            kind="number",
            when_empty="null",
        ),
        FormField(
            name="max_tokens",
            label="Output token limit per turn",
            group=MODEL,
            is_rare=True,
            kind="number",
            when_empty="omit",
        ),
        FormField(name="tools", label="Tools", kind="lines", group=TOOLS, help="One name per line, at most 100"),
        FormField(
            name="integrations",
            label="Integrations",
            kind="lines",
            group=TOOLS,
            help="One service per line: its hosts may be called, and credentials can be stored for it",
        ),
        FormField(
            name="webhook_urls",
            label="Webhook URLs",
            kind="lines",
            group=TOOLS,
            is_rare=True,
            help=f"One https URL per line, at most {WEBHOOK_URLS_MAX}",
        ),
        FormField(
            name="webhook_match",
            label="Webhooks match by",
            kind="choice",
            group=TOOLS,
            is_rare=True,
            options=(("host", "host"), ("url", "whole URL")),
        ),
        FormField(
            name="tool_loading",
            label="Tools in the prompt",
            kind="choice",
            group=TOOLS,
            is_rare=True,
            options=(("all", "all"), ("context-aware", "those that fit the prompt")),
        ),
        APPROVAL_RULES,
        FormField(
            name="max_credits",
            label="Credit limit per execution",
            kind="number",
            group=LIMITS,
            when_empty="omit",
            help="At most the plan's limit",
        ),
        FormField(
            name="max_credits_month",
            label="Monthly credit limit",
            group=LIMITS,
            help="Empty: the plan's limit",
            kind="number",
            when_empty="null",
        ),
        FormField(
            name="max_iterations",
            label="Turn limit per execution",
            kind="number",
            group=LIMITS,
            when_empty="omit",
            help="At most the plan's limit",
        ),
        *SCHEDULE_FIELDS,
    )
