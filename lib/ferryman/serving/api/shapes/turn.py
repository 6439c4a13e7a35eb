"""A turn: what the model wrote, what it has cost, and where its calls and its receipt are."""

from __future__ import annotations

from pydantic import Field

from ferryman.domain.executions.execution import Execution, Step
from ferryman.domain.records import document
from ferryman.serving.api.shapes.record import StepResponse
from ferryman.serving.api.shapes.shape import ListPage


class TurnResponse(StepResponse):
    """A turn as the record has it, and its receipt.

    Its calls are `calls` from the one with the `seq` `first_call` on; those that they asked for themselves follow. `event` is
    the number of its event. Without `details` its `content` is empty.
    """

    receipt: int | None = Field(
        description="The number of the receipt that the model replied; those before it are of the calls of the turn before, "
        "and those that its calls are planned follow. Null: it is not signed"
    )


class TurnList(ListPage):
    """A page of an execution's turns, in order."""

    turns: tuple[TurnResponse, ...]


def to_response(execution: Execution, step: Step) -> TurnResponse:
    """Return the response for a turn of `execution`."""
    signed = {"receipt": step.receipt if step.receipt < execution.receipts.count else None}
    return TurnResponse.model_validate({**document.serialize(step), **signed})
