"""A task: to be stored, to be changed, and as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, StrictBool, StrictFloat, StrictInt, StrictStr
from pydantic.fields import FieldInfo

from ferryman.domain.tasks import task as rules
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.serving.api.shapes.rule import ApprovalRuleResponse, Rules
from ferryman.serving.api.shapes.shape import Amount, Credits, ListPage, RequestShape, ResponseShape

Names = Annotated[tuple[StrictStr, ...], Field(max_length=100)]
Tools = Annotated[
    tuple[StrictStr | dict[str, Any], ...],
    Field(
        max_length=100,
        description=(
            "Names of tools; an object declares one of the task's own, of kind http, or names one of an MCP server of its "
            "agent: {type: mcp, config: {server_id, tool_name}}. Where any of an MCP server is named, no others of them "
            "are offered; where none is, all that are accepted"
        ),
    ),
]
Agent = Annotated[
    StrictStr | None,
    Field(min_length=1, max_length=64, description="The agent of the workspace that runs it; null: the default one"),
]
Model = Annotated[StrictStr | None, Field(description="null: its agent's; one of the two must name one")]
Urls = Annotated[tuple[StrictStr, ...], Field(max_length=100, description=f"https URLs, at most {rules.WEBHOOK_URLS_MAX}")]
Match = Annotated[StrictStr, Field(description="host: the host must be a registered one; url: the whole URL must")]
Loading = Annotated[
    rules.ToolLoading,
    Field(description="all: every enabled tool is shown to the model; context-aware: those that the prompt asks for"),
]
Temperature = Annotated[StrictFloat | StrictInt | None, Field(description="0 to 1; null for models that do not take one")]


def _limit(noun: str) -> Any:
    return Field(default_factory=lambda: None, description=f"{noun}; the plan sets the most, and the default where it is lower")


class ScheduleRequest(RequestShape):
    """When the task runs by itself, in UTC: `type` says which one of the other fields does."""

    type: Literal["cron", "once", "delayed"]
    cron: StrictStr | None = Field(default=None, description="Type cron: five fields, as in 0 9 * * MON-FRI")
    at: AwareDatetime | None = Field(default=None, description="Type once: a moment to come, with its offset from UTC")
    after_s: StrictInt | None = Field(
        default=None, description="Type delayed: seconds from when it is set or the task turned on"
    )

    def schedule(self) -> Schedule:
        """Return the schedule as it would be stored; the rules have not checked it yet."""
        try:
            at = self.at.astimezone(UTC) if self.at else None
        except OverflowError:
            at = self.at  # a day before the first or after the last one; the rules refuse it
        return Schedule(type=ScheduleType(self.type), cron=self.cron, at=at, after_s=self.after_s)


class ScheduleResponse(ResponseShape):
    """When the task runs by itself, in UTC; the field of its `type` is set and no other."""

    type: ScheduleType
    cron: str | None
    at: datetime | None
    after_s: int | None


class NewTask(RequestShape):
    """A task to be stored."""

    name: StrictStr
    description: StrictStr = ""
    system_prompt: StrictStr = ""
    task_prompt: StrictStr = Field(description="May use {{date}}, {{datetime}}, {{execution_id}} and {{task_name}}")
    agent_id: Agent = None
    model: Model = None
    tools: Tools = ()
    integrations: Names = ()
    webhook_urls: Urls = ()
    webhook_match: Match = "host"
    tool_loading: Loading = rules.ToolLoading.ALL
    approvals: Rules = ()
    max_iterations: StrictInt = _limit("Turns an execution may take")
    max_credits: Amount = _limit("Credits an execution may spend")
    max_credits_month: Amount | None = Field(default=None, description="The same over a month; null: only the plan's limit")
    temperature: Temperature = rules.TEMPERATURE_DEFAULT
    max_tokens: StrictInt = rules.MAX_TOKENS_DEFAULT
    enabled: StrictBool = True
    schedule: ScheduleRequest | None = Field(default=None, description="null: it runs only when it is started")


class TaskChange(NewTask):
    """What is to change in a task; a field that is left out stays as it is."""

    schedule: ScheduleRequest | None = Field(default=None, description="Set again, even if it is the same")


for _field in TaskChange.model_fields.values():
    # none is required, and none has a default: what is unset is never read
    _field.default, _field.default_factory = FieldInfo(default_factory=tuple).default, tuple
TaskChange.model_rebuild(force=True)


class ListedTask(ResponseShape):
    """What a list tells of a task: all but its prompts.

    `next_fire_at` is when its schedule runs it next; `paused` says why it no longer does, until a schedule is given or the task
    turned on.
    """

    task_id: str = Field(validation_alias="id")
    user_id: str = Field(validation_alias="owner")
    agent_id: str = Field(validation_alias="agent")
    name: str
    description: str
    model: str | None = Field(description="Its own one; null: its agent's")
    tools: tuple[str, ...]
    integrations: tuple[str, ...]
    webhook_urls: tuple[str, ...]
    webhook_match: str
    tool_loading: rules.ToolLoading
    approvals: tuple[ApprovalRuleResponse, ...]
    max_iterations: int
    max_credits: Credits
    max_credits_month: Credits | None
    temperature: float | None
    max_tokens: int
    enabled: bool
    schedule: ScheduleResponse | None
    next_fire_at: datetime | None
    paused: str | None
    created_at: datetime
    updated_at: datetime


class TaskResponse(ListedTask):
    """A task as it is stored."""

    system_prompt: str
    task_prompt: str


class TaskList(ListPage):
    """A page of an owner's tasks, oldest first."""

    tasks: tuple[ListedTask, ...]
