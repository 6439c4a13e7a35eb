"""The checks of a task: every field that is not accepted is named at once, whether it cannot be read or breaks a rule."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response

from ferryman.catalog.tools import LISTED, is_discoverable
from ferryman.composition.api import ApiDependencies
from ferryman.domain.changes import change_value
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.tasks import task as rules
from ferryman.domain.tasks.schedule import Schedule, find_past_problems
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.serving.api import custom, webhooks
from ferryman.serving.api.errors import FAULTS_MAX, read_fault
from ferryman.serving.api.idempotency import IdempotentRoute
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import task as shapes
from ferryman.serving.api.shapes.rule import build_rules
from ferryman.serving.api.task_agents import find_agent_problems
from ferryman.tools.declared.importing import run_document_worker

REQUIRED = {"name": "x", "task_prompt": "x"}
"""Takes the place of what is missing or unreadable while the other fields are checked; its own problems are not told."""


class TaskRoute(IdempotentRoute):
    """A route whose 422 for a task names, beside the fields that cannot be read, those that break a rule."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
        handle = super().get_route_handler()
        if not {"POST", "PATCH"} & set(self.methods or ()):
            return handle

        async def handle_completely(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                others = await _find_other_problems(request, error)
                if not others:
                    raise
                faults = [read_fault(fault) for fault in error.errors()[:FAULTS_MAX]]
                raise InvalidInputError([*faults, *others][:FAULTS_MAX]) from None

        return handle_completely


async def check_task(
    deps: ApiDependencies, plan: Plan, task: Task, body: shapes.NewTask, *, changes: Mapping[str, Any], needs_model: bool = True
) -> list[DeclaredTool]:
    """Return the tools that `body` declares for `task`. Raise `InvalidInputError` with every problem of all fields.

    Of `changes`, the fields that are set, webhook URLs and a schedule pass more checks than stored ones.
    """
    problems = await _find_rule_problems(deps, plan, task, changes)
    problems += await find_agent_problems(deps.agents, task, changes, needs_model=needs_model)
    places = [f"tools.{index}" for index, tool in enumerate(body.tools) if not isinstance(tool, str)]
    tools: list[DeclaredTool] = []
    try:
        tools = await custom.read_declared_tools(list_declared(body), task, deps, places=places)
    except InvalidInputError as invalid:
        problems += invalid.problems
    if problems:
        raise InvalidInputError(problems)
    return tools


def list_declared(body: shapes.NewTask) -> list[dict[str, Any]]:
    """Return the tools that are declared in the list of tools."""
    return [tool for tool in body.tools if not isinstance(tool, str)]


def read_fields(body: shapes.NewTask, workspace: str, **options: Any) -> dict[str, Any]:
    """Return the fields of a task of `workspace` that `body` sets, as they are stored; `options` are pydantic's for a dump."""
    fields: dict[str, Any] = body.model_dump(**options)
    if "agent_id" in fields:
        fields["agent"] = fields.pop("agent_id") or derive_default_agent(workspace)
    if "tools" in fields:
        fields["tools"] = tuple(tool for tool in body.tools if isinstance(tool, str))
    if "approvals" in fields:
        fields["approvals"] = build_rules(fields["approvals"])
    if "schedule" in fields:
        fields["schedule"] = body.schedule and body.schedule.schedule()
    return fields


def draft_task(body: shapes.NewTask, caller: Caller, plan: Plan, *, id: str, now: datetime) -> Task:  # noqa: A002 - a task's id
    """Return the task of the caller's workspace as it would be stored, with the plan's defaults; nothing has checked it yet."""
    limits = {
        "max_iterations": min(rules.ITERATIONS_DEFAULT, plan.iterations),
        "max_credits": min(rules.CREDITS_DEFAULT, plan.credits_per_execution),
    }
    fields = read_fields(body, caller.workspace, exclude=limits.keys() - body.model_fields_set)
    place = {"owner": caller.owner.id, "workspace": caller.workspace}
    return Task(id=id, created_at=now, updated_at=now, **{**limits, **fields, **place})


async def _find_rule_problems(deps: ApiDependencies, plan: Plan, task: Task, changes: Mapping[str, Any]) -> list[Problem]:
    tools = {tool.name for tool in deps.tools} | {name for name in task.tools if is_discoverable(name) or is_remote_name(name)}
    known = {"tools": tools, "integrations": frozenset(deps.integrations), "models": frozenset(deps.models)}
    broken = await run_document_worker(task.owner, "task_prompt", rules.find_task_problems, task, plan=plan, **known)
    problems = [_explain_unimplemented(problem, task) for problem in broken]
    if task.model is not None:
        problems += rules.find_key_problems(task.model, deps.models, deps.usable_models, deps.model_keys)
    schedule: Schedule | None = changes.get("schedule")
    problems += find_past_problems(schedule, now=deps.clock.now())
    # names are asked only for URLs that the grammar and the limit let pass
    if not any(problem.field.startswith("webhook_urls") for problem in problems):
        problems += await webhooks.find_problems(changes.get("webhook_urls", ()), deps.names, owner=task.owner)
    return problems


def _explain_unimplemented(problem: Problem, task: Task) -> Problem:
    """Return a problem of the list of tools with the reason, where it is of a tool that the catalog only lists."""
    field, _, index = problem.field.partition(".")
    listing = LISTED.get(task.tools[int(index)]) if field == "tools" and index.isdecimal() else None
    if listing is None or listing.reason is None:
        return problem
    return Problem(problem.field, f"is not implemented: {listing.name} {listing.reason}")


async def _find_other_problems(request: Request, error: RequestValidationError) -> Sequence[Problem]:
    """Return the problems of the fields that could be read, where others could not."""
    faults, body = error.errors(), error.body
    if not isinstance(body, dict) or any(len(fault["loc"]) < 2 or fault["loc"][0] != "body" for fault in faults):
        return ()
    broken = {fault["loc"][1] for fault in faults}
    readable = {name: value for name, value in body.items() if name in shapes.NewTask.model_fields and name not in broken}
    deps: ApiDependencies = request.app.state.deps
    caller: Caller = request.state.caller
    plan, stored = deps.plans.get(caller.owner.plan), getattr(request.state, "task", None)
    if plan is None:
        return ()
    try:
        if stored is None:
            draft: shapes.NewTask = shapes.NewTask.model_validate({**REQUIRED, **readable})
            task = draft_task(draft, caller, plan, id="draft", now=deps.clock.now())
            changes = read_fields(draft, caller.workspace)
        else:
            draft = shapes.TaskChange.model_validate(readable)
            changes = read_fields(draft, caller.workspace, exclude_unset=True)
            task = change_value(stored, changes, now=deps.clock.now())
        await check_task(deps, plan, task, draft, changes=changes)
    except ValidationError:
        return ()  # of a union, a second way to read it failed
    except InvalidInputError as invalid:
        # whether a declared tool's host is approved depends on the integrations
        hidden = broken | ({"tools"} if "integrations" in broken else set())
        # and whether a model has to be given, on the agent
        hidden |= {"model"} if "agent_id" in broken else set()
        return [problem for problem in invalid.problems if problem.field.partition(".")[0] not in hidden]
    return ()
