"""The two kinds of shape, requests and responses, and the problem that any route may answer."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from ferryman.domain.credits.amount import format_credits


def select(source: object, *names: str) -> dict[str, Any]:
    """Return the attributes of `source` of these names."""
    return {name: getattr(source, name) for name in names}


class RequestShape(BaseModel):
    """A request's body. Errors never repeat its content."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True)


class ResponseShape(BaseModel):
    """A response's body, made of a value whose attributes have the names of its fields or their validation aliases."""

    model_config = ConfigDict(frozen=True, serialize_by_alias=True, from_attributes=True)


Amount = Annotated[Decimal, Field(max_digits=12, decimal_places=4)]
"""An amount of credits in a request."""

Credits = Annotated[Decimal, PlainSerializer(format_credits, return_type=str)]
"""An amount of credits, written as a decimal string so that nothing is rounded on the way."""

Dollars = Credits
"""An amount of US dollars, likewise."""


ParentCall = Annotated[int | None, Field(description="The `seq` of the call that asked for this one; null: the model did")]
"""By which call a call was asked for."""


class ListPage(ResponseShape):
    """A page of a list."""

    next: str | None = Field(description="The `cursor` of the next page; null: this is the last")


class FieldProblem(ResponseShape):
    """One field that is not accepted."""

    field: str = Field(description="The field as a dotted path, for example webhook_urls.1")
    message: str = Field(description="What would be accepted")


class ProblemDetails(ResponseShape):
    """Why a request was refused or failed (RFC 9457)."""

    type: str = Field(description="about:blank: the title says it all")
    title: str
    status: int
    detail: str
    errors: tuple[FieldProblem, ...] = ()
