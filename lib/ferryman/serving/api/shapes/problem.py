"""A problem, as /openapi.json describes it."""

from __future__ import annotations

from pydantic import Field

from ferryman.serving.api.shapes.shape import ResponseShape


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
