"""The ledger: a month's statement."""

from __future__ import annotations

from ferryman.domain.statement import Line
from ferryman.serving.api.shapes.shape import Answered, Credits


class Spent(Answered):
    """What one task's executions spent in the month."""

    task_id: str
    executions: int
    llm_tokens: Credits
    api_call_fees: Credits
    credits: Credits


class Statement(Answered):
    """A month, the dearest task first. `sum_of_postings` is 0: whatever left one account came into another."""

    month: str
    tasks: tuple[Spent, ...]
    credits: Credits
    entries: int
    sum_of_postings: Credits


def line(of: Line) -> Spent:
    """`of` as it is answered."""
    return Spent(
        task_id=of.task,
        executions=of.executions,
        llm_tokens=of.llm_tokens,
        api_call_fees=of.api_call_fees,
        credits=of.credits,
    )
