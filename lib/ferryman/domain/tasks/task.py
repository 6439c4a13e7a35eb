"""Tasks: the work that an owner defines, and the rules that a stored task meets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType

from ferryman.domain.approvals.rule_problems import find_rule_problems
from ferryman.domain.approvals.rules import ApprovalRule
from ferryman.domain.credentials.integration import WEBHOOK
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import Problem
from ferryman.domain.tasks import prompt
from ferryman.domain.tasks.schedule import Schedule, find_schedule_problems
from ferryman.domain.workspaces.names import fill_place

NAME_CHARACTERS_MAX = 100
DESCRIPTION_CHARACTERS_MAX = 1_000
PROMPT_CHARACTERS_MAX = 50_000
WEBHOOK_URLS_MAX = 3  # S0-59
MAX_TOKENS_DEFAULT = 4_096
MAX_TOKENS_LIMIT = 64_000
TEMPERATURE_DEFAULT = 0.3
ITERATIONS_DEFAULT = 8
CREDITS_DEFAULT = Decimal(100)
TASKS_PER_OWNER_MAX = 200
WEBHOOK_MATCHES = ("host", "url")
SCRIPTED = "scripted"
"""The one family of models: `scripted/NAME` runs the script NAME, at the price of the family."""


class ToolLoading(StrEnum):
    """Which of its tools a task's model is shown: all of them (S3-90), or those that the context asks for."""

    ALL = "all"
    CONTEXT_AWARE = "context-aware"


_MODEL = re.compile(r"(?P<name>[a-z0-9.@-]{1,64})(?:/(?P<script>[A-Za-z0-9_.-]{1,64}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSummary:
    """What a list tells of a task: all but its prompts.

    `max_credits` is per execution, `max_credits_month` over all of a month's. `tools` and `integrations` list ids; an empty
    list means none. `next_fire_at` is when its schedule runs it next, `paused` the reason why it no longer does, and
    `schedule_generation` rises whenever earlier fires become void. One that names no `workspace` is in its owner's default one,
    and one that names no `agent` is the default agent's. One whose `model` is None runs on its agent's.
    """

    id: str
    owner: str
    workspace: str = ""
    agent: str = ""
    name: str
    description: str = ""
    model: str | None = None
    tools: tuple[str, ...] = ()
    integrations: tuple[str, ...] = ()
    webhook_urls: tuple[str, ...] = field(default=(), repr=False)
    webhook_match: str = "host"
    tool_loading: ToolLoading = ToolLoading.ALL
    approvals: tuple[ApprovalRule, ...] = ()
    max_iterations: int = ITERATIONS_DEFAULT
    max_credits: Decimal = CREDITS_DEFAULT
    max_credits_month: Decimal | None = None
    temperature: float | None = TEMPERATURE_DEFAULT
    max_tokens: int = MAX_TOKENS_DEFAULT
    enabled: bool = True
    schedule: Schedule | None = None
    schedule_generation: int = 0
    next_fire_at: datetime | None = None
    paused: str | None = None
    created_at: datetime
    updated_at: datetime

    def __post_init__(self) -> None:
        """Put a task that names no workspace into its owner's default one, and give it that one's default agent."""
        fill_place(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(TaskSummary):
    """A task as stored."""

    system_prompt: str = field(default="", repr=False)
    task_prompt: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks are listed: those that are enabled, or are not; those of a name; those of an agent; None: any."""

    enabled: bool | None = None
    name: str | None = None
    agent: str | None = None

    def passes(self, task: TaskSummary) -> bool:
        """Return whether `task` is one of them."""
        pairs = (self.enabled, task.enabled), (self.name, task.name), (self.agent, task.agent)
        return all(expected in (None, value) for expected, value in pairs)


ALL_TASKS = TaskFilter()


def find_task_problems(
    task: Task, *, plan: Plan, tools: Collection[str], integrations: Collection[str], models: Collection[str]
) -> list[Problem]:
    """Return the problems that keep `task` from being stored under `plan`; `models` are the names that have a price."""
    schedule = task.schedule
    return [
        *_find_text_problems(task),
        *_find_member_problems("tools", task.tools, tools, "tool"),
        *_find_member_problems("integrations", task.integrations, {*integrations, WEBHOOK}, "integration"),
        *_find_webhook_problems(task),
        *find_rule_problems(task.approvals),
        *_find_limit_problems(task, plan),
        *(find_model_problems(task.model, models) if task.model is not None else ()),
        *(find_schedule_problems(schedule, plan=plan, now=task.updated_at) if schedule else ()),
    ]


def _find_text_problems(task: Task) -> Iterator[Problem]:
    limits = {
        "name": (task.name, NAME_CHARACTERS_MAX),
        "description": (task.description, DESCRIPTION_CHARACTERS_MAX),
        "system_prompt": (task.system_prompt, PROMPT_CHARACTERS_MAX),
        "task_prompt": (task.task_prompt, PROMPT_CHARACTERS_MAX),
    }
    for name, (text, most) in limits.items():
        if len(text) > most:
            yield Problem(name, f"must be at most {most} characters, is {len(text)}")
        try:
            text.encode()
        except UnicodeEncodeError:
            yield Problem(name, "must be valid Unicode, without lone surrogates")
    if not task.name.strip():
        yield Problem("name", "must not be empty")
    if not task.task_prompt.strip():
        yield Problem("task_prompt", "must not be empty")
    for name in ("system_prompt", "task_prompt"):
        rule = prompt.find_suspicion([getattr(task, name)[:PROMPT_CHARACTERS_MAX]])
        if rule is not None:
            yield Problem(name, f"asks for {rule}, which tasks may not do")


def _find_member_problems(name: str, ids: tuple[str, ...], known: Collection[str], noun: str) -> Iterator[Problem]:
    for index, id_ in enumerate(ids):
        if id_ not in known:
            listed = ", ".join(sorted(known))
            yield Problem(f"{name}.{index}", f"is not a known {noun}; known are: {listed}")
        elif id_ in ids[:index]:
            yield Problem(f"{name}.{index}", "is listed twice")


def _find_webhook_problems(task: Task) -> Iterator[Problem]:
    if len(task.webhook_urls) > WEBHOOK_URLS_MAX:
        yield Problem("webhook_urls", f"at most {WEBHOOK_URLS_MAX} webhook URLs, got {len(task.webhook_urls)}")
    for index, raw in enumerate(task.webhook_urls):
        try:
            parse_url(raw)
        except InvalidUrlError as error:
            yield Problem(f"webhook_urls.{index}", str(error))
    if task.webhook_match not in WEBHOOK_MATCHES:
        yield Problem("webhook_match", "must be host or url")


def _find_limit_problems(task: Task, plan: Plan) -> Iterator[Problem]:
    if not 1 <= task.max_iterations <= plan.iterations:
        yield Problem("max_iterations", f"must be 1 to {plan.iterations} on plan {plan.name}")
    if not 0 < task.max_credits <= plan.credits_per_execution:
        most = plan.credits_per_execution
        yield Problem("max_credits", f"must be above 0 and at most {most} on plan {plan.name}")
    if task.max_credits_month is not None and not 0 < task.max_credits_month <= plan.credits_per_month:
        most = plan.credits_per_month
        yield Problem("max_credits_month", f"must be above 0 and at most {most} on plan {plan.name}")
    if task.temperature is not None and not 0 <= task.temperature <= 1:
        yield Problem("temperature", "must be 0 to 1")
    if not 1 <= task.max_tokens <= MAX_TOKENS_LIMIT:
        yield Problem("max_tokens", f"must be 1 to {MAX_TOKENS_LIMIT}")


def find_model_problems(model: str, models: Collection[str]) -> list[Problem]:
    """Return the problem of a name of a model that none of `models`, those that have a price, is."""
    match = _MODEL.fullmatch(model)
    if match is None:
        return [Problem("model", f"must be the name of a model, or {SCRIPTED}/NAME, of at most 64 characters each")]
    if match["script"] is not None and match["name"] != SCRIPTED:
        return [Problem("model", f"only {SCRIPTED} models have a name after a slash")]
    if match["name"] in models:
        return []
    return [Problem("model", f"has no price; priced are: {', '.join(sorted(models))}")]


def find_key_problems(
    model: str, models: Collection[str], usable: Collection[str] | None, keys: Mapping[str, str] = MappingProxyType({})
) -> list[Problem]:
    """Return the problem of a model that is known and needs a key where none is set; `usable` are the others.

    `keys` names the key of each model that has one of its own.
    """
    family = model.partition("/")[0]
    if usable is None or family not in models or family in usable:
        return []
    listed, name = ", ".join(sorted(usable)), keys.get(family, "ANTHROPIC_API_KEY")
    return [Problem("model", f"needs a key, and none is set ({name}); without one there are: {listed}")]
