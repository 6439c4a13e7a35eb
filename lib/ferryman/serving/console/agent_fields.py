"""The fields of the forms of an agent, by group: labels, help with limits, templates and models to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.agents.rules import SETTINGS_MAX
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.tasks.task import PROMPT_CHARACTERS_MAX
from ferryman.serving.console.common_fields import APPROVAL_RULES, DESCRIPTION, LIMITS, TOOLS, WORK
from ferryman.serving.console.form_fields import FormField

CHAT = "Conversations"
"""A further heading of the form."""

TITLES = (("first_line", "their first message"), ("model", "the model"))


def build_new_agent_fields(templates: list[Mapping[str, Any]], models: list[Mapping[str, Any]]) -> tuple[FormField, ...]:
    """Return the fields of an agent that is not there yet, with the templates that it may begin as."""
    options = [("", "none"), *((item["id"], show_text(item["name"])) for item in templates)]
    return (
        FormField(name="template", label="Template", kind="choice", options=options, when_empty="omit"),
        FormField(name="name", label="Name", when_empty="omit", help="Empty: the template's"),
        FormField(name="description", label="Description", when_empty="omit", help="Empty: the template's"),
        FormField(name="system_prompt", label="System prompt", kind="long", when_empty="omit", help="Empty: the template's"),
        FormField(name="model", label="Model", when_empty="omit", help=_write_models(models)),
    )


def build_agent_fields(models: list[Mapping[str, Any]]) -> tuple[FormField, ...]:
    """Return all fields of an agent, by group."""
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
        DESCRIPTION,
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
        APPROVAL_RULES,
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
