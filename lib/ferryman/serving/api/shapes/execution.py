"""An execution: how it is started, and its record."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import Field, StrictStr

from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX, Execution, ExecutionSummary, Status
from ferryman.domain.executions.request import LABELS_MAX
from ferryman.domain.records import document
from ferryman.serving.api.shapes import call
from ferryman.serving.api.shapes.shape import Credits, ListPage, RequestShape, ResponseShape


class StartRequest(RequestShape):
    """What an execution is started with.

    `conversation` is an id of your choice, for all executions of one conversation with the agent; `labels` are names with
    short texts of your own. No model sees either.
    """

    input: StrictStr | None = Field(default=None, max_length=INPUT_CHARACTERS_MAX)
    conversation: StrictStr | None = Field(default=None, max_length=64)
    labels: dict[StrictStr, StrictStr] = Field(default_factory=dict, max_length=LABELS_MAX)


class DirectCallRequest(RequestShape):
    """A call of one tool, by its name and the arguments that a model would give."""

    tool: StrictStr = Field(pattern="^[A-Za-z0-9_-]{1,64}$", description="The name of the tool, as the model is shown it")
    arguments: dict[str, Any] = Field(default_factory=dict, description="At most 100,000 characters as JSON")


class TokenCounts(ResponseShape):
    """Tokens the model consumed."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


class ListedExecution(ResponseShape):
    """What a list tells of an execution: all but its input, its output and its calls, which `tool_calls_total` counts.

    `slice` counts how often it was handed over to a further delivery; `scheduled_for` is the time of the schedule that
    started it, null where somebody did. `person_id` is who started it, null where that was a schedule, an application or the
    owner; `conversation_id` is its conversation, by the id that its starter chose. `cancelled_by` is the person who cancelled
    it, or `owner`. `credits_held` are set aside for what is under way. `labels` are its starter's own. `waiting_for` is the
    approval that a person has to decide about before it goes on, since `waiting_since`; null: it waits for nobody.
    """

    execution_id: str
    task_id: str
    workspace_id: str
    agent_id: str
    person_id: str | None
    conversation_id: str | None
    answer: int | None = Field(description="The number of the message of its conversation that it writes; null: none")
    titled_answer: int | None = Field(
        default=None,
        description="Of one that gives its conversation a title, the answer that it comes after; others have no such member",
        exclude_if=lambda answer: answer is None,
    )
    called_tool: str | None = Field(
        default=None,
        description="Of one that makes the call it was started with and asks no model, the tool; others have no such member",
        exclude_if=lambda tool: tool is None,
    )
    cancelled_by: str | None
    waiting_for: str | None = None
    waiting_since: datetime | None = None
    status: Status
    labels: dict[str, str]
    created_at: datetime
    scheduled_for: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    iterations: int
    credits_used: Credits
    credits_reserved: Credits
    credits_held: Credits
    usage: TokenCounts
    tool_calls_total: int
    cancel_requested: bool
    slice: int
    error: str | None
    imported_from: str | None = Field(
        default=None,
        description="Of an imported execution, its id where it ran; others have no such member",
        exclude_if=lambda origin: origin is None,
    )


class DetailedExecution(ListedExecution):
    """An execution with its input, its output and its calls; `tool_calls` holds at most 50 rows."""

    input: str | None
    tool_calls: tuple[call.ResultRow, ...]
    output: str | None


class ExecutionResponse(DetailedExecution):
    """An execution's record; `tool_calls` holds at most 50 rows. `taken_over_by` is the person who answers for it since the one
    who started it was removed from the workspace, or `owner`."""

    taken_over_by: str | None
    question: int | None = Field(description="The number of the message that it answers; null: none")


class ExecutionList(ListPage):
    """A page of executions, newest first."""

    executions: tuple[ListedExecution, ...]


def to_list(page: Iterable[ExecutionSummary], following: str | None) -> ExecutionList:
    """Return a page of executions, and the cursor of the one that follows."""
    rows = (ListedExecution.model_validate(document.serialize_summary(execution)) for execution in page)
    return ExecutionList(executions=tuple(rows), next=following)


def to_response(execution: Execution) -> ExecutionResponse:
    """Return the response for `execution`."""
    return ExecutionResponse.model_validate(document.serialize_execution(execution))
