"""The checks of an agent: every field that breaks a rule is named at once, fixed arguments by their tool's schema, too."""

from __future__ import annotations

from collections.abc import Iterator

from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.composition.api import ApiDependencies
from ferryman.declared.arguments import check_schema
from ferryman.domain.agents import rules
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.tasks.task import find_key_problems
from ferryman.domain.tools.names import strip_prefix
from ferryman.domain.workspaces.agent import Agent
from ferryman.serving.api.rights import Caller
from ferryman.tools.declared.importing import run_document_worker


async def check_agent(deps: ApiDependencies, caller: Caller, agent: Agent) -> None:
    """Raise `InvalidInputError` with every problem of all fields."""
    plan, models = deps.plans.get(caller.owner.plan), frozenset(deps.models)
    problems = await run_document_worker(caller.owner.id, "agent", find_problems, agent, models, plan)
    if agent.model is not None:
        problems += find_key_problems(agent.model, deps.models, deps.usable_models, deps.model_keys)
    if problems:
        raise InvalidInputError(problems)


def find_problems(agent: Agent, models: frozenset[str], plan: Plan | None) -> list[Problem]:
    """Return the problems of `agent`; a pure function for workers."""
    problems = rules.find_agent_problems(agent, tools=LISTED, models=models, plan=plan)
    return problems or list(_find_argument_problems(agent))


def _find_argument_problems(agent: Agent) -> Iterator[Problem]:
    """Yield the problems of the fixed arguments of built-in tools: each value has to fit its place in the schema."""
    by_name = {strip_prefix(tool.name): tool for tool in TOOLS.values()}
    for name, settings in agent.tool_settings.items():
        tool = by_name.get(strip_prefix(name))
        if tool is None:
            continue
        for argument, value in settings.arguments.items():
            schema = {"type": "object", "properties": {argument: tool.schema["properties"][argument]}}
            try:
                check_schema(tool.name, schema, {argument: value})
            except CallRefusedError as refused:
                message = refused.refusal.message.removeprefix("Error: ")
                yield Problem(f"tool_settings.{name}.arguments.{argument}", message)
