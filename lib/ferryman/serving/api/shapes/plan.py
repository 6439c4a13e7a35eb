"""A plan and its limits: an owner's own account shows it, and the table of plans."""

from __future__ import annotations

from pydantic import Field

from ferryman.domain.owners.plan import FILE_BYTES
from ferryman.serving.api.shapes.shape import Credits, ResponseShape


class PlanResponse(ResponseShape):
    """The limits of a plan; a credit is worth $0.001."""

    name: str
    calls_per_execution: int
    calls_per_minute: int
    response_bytes: int
    iterations: int
    credits_per_execution: Credits
    credits_per_month: Credits
    schedule_minutes: int
    executions_running: int = Field(description="Executions of an owner that run at once; the others wait")
    executions_queued: int = Field(description="Executions of an owner that wait for their first turn; one more is refused")
    streams: int = Field(description="Streams of events that an owner has open at once; one more is refused")
    tools: tuple[str, ...] = Field(default=(), description="The tools that it allows; an empty list allows every tool")
    file_bytes: int = Field(default=FILE_BYTES, description="What the files of one workspace may have together")
