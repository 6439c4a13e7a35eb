"""The ledger: a month's statement."""

from __future__ import annotations

from ferryman.domain.credits.statement import StatementLine
from ferryman.serving.api.shapes.shape import Credits, ResponseShape


class TaskSpending(ResponseShape):
    """What one task's executions spent in the month."""

    task_id: str
    executions: int
    llm_tokens: Credits
    api_call_fees: Credits
    credits: Credits


class Statement(ResponseShape):
    """A month, the dearest task first. `sum_of_postings` is 0: whatever left one account came into another."""

    month: str
    tasks: tuple[TaskSpending, ...]
    credits: Credits
    entries: int
    sum_of_postings: Credits


def to_response(of: StatementLine) -> TaskSpending:
    """Return the response for a line of the statement."""
    return TaskSpending(
        task_id=of.task,
        executions=of.executions,
        llm_tokens=of.llm_tokens,
        api_call_fees=of.api_call_fees,
        credits=of.credits,
    )
