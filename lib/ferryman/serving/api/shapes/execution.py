"""An execution: how it is started, and its record."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictStr

from ferryman.domain.execution import INPUT_CHARACTERS_MAX, Execution, Status
from ferryman.domain.usage import Usage
from ferryman.serving.api.shapes import call
from ferryman.serving.api.shapes.shape import Answered, Asked, Credits


class Start(Asked):
    """What an execution is started with."""

    input: StrictStr | None = Field(default=None, max_length=INPUT_CHARACTERS_MAX)


class Tokens(Answered):
    """Tokens the model consumed."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int


class ExecutionShown(Answered):
    """An execution's record; `tool_calls` holds at most 50 rows, `tool_calls_total` counts all of them.

    `slice` counts how often it was handed over to a further delivery; `scheduled_for` is the time of the schedule that
    started it, null where somebody did; `credits_held` are set
    aside for what is under way.
    """

    execution_id: str
    task_id: str
    status: Status
    input: str | None
    created_at: datetime
    scheduled_for: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    iterations: int
    credits_used: Credits
    credits_reserved: Credits
    credits_held: Credits
    usage: Tokens
    tool_calls: tuple[call.Result, ...]
    tool_calls_total: int
    cancel_requested: bool
    slice: int
    output: str | None
    error: str | None


class ExecutionList(Answered):
    """Executions, newest first."""

    executions: tuple[ExecutionShown, ...]


def shown(execution: Execution) -> ExecutionShown:
    """`execution` as it is answered."""
    special = ("execution_id", "task_id", "usage", "tool_calls")
    same = {name: getattr(execution, name) for name in ExecutionShown.model_fields if name not in special}
    return ExecutionShown(
        execution_id=execution.id,
        task_id=execution.task,
        usage=tokens(execution.usage),
        tool_calls=tuple(call.result(each) for each in execution.tool_calls),
        **same,
    )


def tokens(usage: Usage) -> Tokens:
    """`usage` as it is answered."""
    return Tokens(**{name: getattr(usage, name) for name in Tokens.model_fields})
