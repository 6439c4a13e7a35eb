"""The rules that a stored agent meets."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping

from ferryman.domain.approvals.rule_problems import find_rule_problems
from ferryman.domain.flow.correction_problems import find_correction_problems
from ferryman.domain.json_tree import find_fault, is_unicode, walk
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import Problem
from ferryman.domain.tasks import prompt
from ferryman.domain.tasks.task import DESCRIPTION_CHARACTERS_MAX, PROMPT_CHARACTERS_MAX, find_model_problems
from ferryman.domain.tools.names import find_list_problems, strip_prefix
from ferryman.domain.tools.settings import CALLS_LIMIT, TIMEOUT_LIMIT_S, ToolSettings
from ferryman.domain.tools.tool import Tool, ToolListing
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.rules import find_credit_problems, find_name_problems

SETTINGS_MAX = 50
"""The tools that one agent has settings of."""

SETTINGS_CHARACTERS_MAX = 20_000
"""All fixed arguments of an agent, as JSON: the policy of each of its executions has them."""

ARGUMENTS_DEPTH_MAX = 10

UNTIMED = ("finding", "passing", "recalling", "waiting")
"""The kinds of tools that the orchestrator executes itself: no time limit would end their calls."""


def find_agent_problems(
    agent: Agent, *, tools: Mapping[str, ToolListing], models: Collection[str], plan: Plan | None = None
) -> list[Problem]:
    """Return the problems that keep `agent` from being stored.

    `tools` is the catalog by name, `models` the names of the models that have a price, `plan` its owner's, which
    limits its credits; None: no plan of the deployment's.
    """
    problems = [
        *find_text_problems(name=agent.name, description=agent.description, system_prompt=agent.system_prompt),
        *find_list_problems("allowed_tools", agent.allowed_tools),
        *find_list_problems("enabled_tools", agent.enabled_tools or ()),
        *_find_settings_problems(agent.tool_settings, tools),
        *find_rule_problems(agent.approvals),
        *find_credit_problems(agent, plan),
    ]
    if agent.model is not None:
        problems += find_model_problems(agent.model, models)
    return problems


def find_text_problems(*, name: str, description: str, system_prompt: str) -> Iterator[Problem]:
    """Yield the problems of an agent's texts."""
    limits = {
        "description": (description, DESCRIPTION_CHARACTERS_MAX),
        "system_prompt": (system_prompt, PROMPT_CHARACTERS_MAX),
    }
    yield from find_name_problems(name)
    for field, (text, most) in limits.items():
        if len(text) > most:
            yield Problem(field, f"must be at most {most} characters, is {len(text)}")
        if not is_unicode(text):
            yield Problem(field, "must be valid Unicode, without lone surrogates")
    rule = prompt.find_suspicion([system_prompt[:PROMPT_CHARACTERS_MAX]])
    if rule is not None:
        yield Problem("system_prompt", f"asks for {rule}, which agents may not do")


def _find_settings_problems(settings: Mapping[str, ToolSettings], tools: Mapping[str, ToolListing]) -> Iterator[Problem]:
    if len(settings) > SETTINGS_MAX:
        yield Problem("tool_settings", f"of at most {SETTINGS_MAX} tools, got {len(settings)}")
        return
    for problem in find_list_problems("tool_settings", list(settings)):
        index = int(problem.field.rpartition(".")[2])
        yield Problem("tool_settings", f"the {index + 1}. name {problem.message}")
    by_name = {strip_prefix(name): tool for name, tool in tools.items()}
    characters = 0
    for name, value in settings.items():
        where, tool = f"tool_settings.{name}", by_name.get(strip_prefix(name))
        yield from _find_limit_problems(where, value, tool)
        if value.flow is not None:
            known_arguments = tool.schema.get("properties", {}) if isinstance(tool, Tool) else None
            yield from find_correction_problems(f"{where}.flow", value.flow, known_arguments)
        fault = _find_json_fault(value.arguments)
        if fault is not None:
            yield Problem(f"{where}.arguments", fault)
            continue
        characters += len(json.dumps(dict(value.arguments)))
        if isinstance(tool, Tool):
            known = tool.schema.get("properties", {})
            for argument in value.arguments:
                if argument not in known:
                    listed = ", ".join(known) or "it has none"
                    yield Problem(f"{where}.arguments.{argument}", f"is no argument of {tool.name}; its arguments: {listed}")
    if characters > SETTINGS_CHARACTERS_MAX:
        most = SETTINGS_CHARACTERS_MAX
        yield Problem("tool_settings", f"all fixed arguments must be at most {most} characters as JSON, are {characters}")


def _find_limit_problems(where: str, value: ToolSettings, tool: ToolListing | None) -> Iterator[Problem]:
    if value.calls_max is not None and not 1 <= value.calls_max <= CALLS_LIMIT:
        yield Problem(f"{where}.calls_max", f"must be 1 to {CALLS_LIMIT}; to forbid a tool, leave it out of allowed_tools")
    most = TIMEOUT_LIMIT_S
    if isinstance(tool, Tool) and tool.policy.timeout_s is not None:
        most = tool.policy.timeout_s
    if value.timeout_s is not None and isinstance(tool, Tool) and tool.kind in UNTIMED:
        yield Problem(f"{where}.timeout_s", f"must be null: the calls of {tool.name} have no time limit of their own")
    elif value.timeout_s is not None and not 0 < value.timeout_s <= most:
        yield Problem(f"{where}.timeout_s", f"must be above 0 and at most {most:g} seconds")


def _find_json_fault(arguments: Mapping[str, object]) -> str | None:
    for path, value in walk(arguments):
        if len(path) > ARGUMENTS_DEPTH_MAX:
            return f"must be nested at most {ARGUMENTS_DEPTH_MAX} deep"
        fault = find_fault(value)
        if fault is not None:
            return fault
    return None
