"""An owner's account: who is asking, the kill switch, and a month's statement."""

from __future__ import annotations

from pydantic import Field

from ferryman.serving.api.shapes.plan import PlanResponse
from ferryman.serving.api.shapes.shape import Credits, ResponseShape


class Me(ResponseShape):
    """Who is asking, and what is left of the month's credits. `limits` is null on a plan that may not run tasks;
    `halted` says what stops all your executions, if anything does."""

    owner: str
    plan: str
    month: str
    credits_used: Credits
    credits_reserved: Credits
    credits_left: Credits
    halted: str | None
    limits: PlanResponse | None


class Halt(ResponseShape):
    """What stops your executions, in words; null when nothing does."""

    halted: str | None


class TaskSpending(ResponseShape):
    """What one task's executions spent in the month."""

    task_id: str = Field(validation_alias="task")
    executions: int
    llm_tokens: Credits
    api_call_fees: Credits
    credits: Credits


class Statement(ResponseShape):
    """A month, the dearest task first. `sum_of_postings` is 0: what leaves one account enters another."""

    month: str
    tasks: tuple[TaskSpending, ...]
    credits: Credits
    entries: int
    sum_of_postings: Credits
