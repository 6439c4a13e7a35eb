"""Traces: the tracer of a deployed function, whose lines go to its standard output."""

from __future__ import annotations

from ferryman.gcp.log import JsonLog
from ferryman.ports import Tracer
from ferryman.settings import Settings
from ferryman.telemetry.traces import Traces


def of(settings: Settings) -> Tracer:
    """The tracer of one process."""
    return Traces(JsonLog(), settings)
