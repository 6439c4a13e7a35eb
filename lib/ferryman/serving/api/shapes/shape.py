"""The two kinds of shape: what is asked, and what is answered."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer

from ferryman.domain.credits.ledger import format_credits


class RequestShape(BaseModel):
    """A request's body. Errors never repeat its content."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True)


class ResponseShape(BaseModel):
    """A response's body."""

    model_config = ConfigDict(frozen=True, serialize_by_alias=True)


Credits = Annotated[Decimal, PlainSerializer(format_credits, return_type=str)]
"""An amount of credits, written as a decimal string so that nothing is rounded on the way."""

Dollars = Credits
"""An amount of US dollars, likewise."""
