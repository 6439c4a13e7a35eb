"""An owner's account: who is asking, the kill switch, and a month's statement."""

from __future__ import annotations

from ferryman.domain.credits.statement import Grouping
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


class StatementLineResponse(ResponseShape):
    """What the executions of one task, agent, person or workspace cost in the month. `id` is "" for those that no person
    started."""

    id: str
    executions: int
    llm_tokens: Credits
    api_call_fees: Credits
    credits: Credits


class Statement(ResponseShape):
    """A month, the dearest line first. `sum_of_postings` is 0: what leaves one account enters another."""

    month: str
    by: Grouping
    lines: tuple[StatementLineResponse, ...]
    credits: Credits
    entries: int
    sum_of_postings: Credits
