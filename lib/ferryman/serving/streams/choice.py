"""The choice of a format: by the name that a request gives, or by its `Accept` header."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from ferryman.domain.conversations.position import StreamPosition
from ferryman.serving.streams.agui import AguiProjection
from ferryman.serving.streams.frame import MEDIA_TYPE
from ferryman.serving.streams.message import MessageProjection
from ferryman.serving.streams.numbered import NumberedProjection
from ferryman.serving.streams.projection import Projection
from ferryman.serving.streams.vercel import VercelProjection


class StreamFormat(StrEnum):
    """The formats of a stream, by the names that requests give them."""

    NUMBERED = "ferryman"
    MESSAGE = "message"
    AGUI = "ag-ui"
    VERCEL = "vercel"


PROJECTIONS: Mapping[StreamFormat, Callable[..., Projection]] = {
    StreamFormat.NUMBERED: NumberedProjection,
    StreamFormat.MESSAGE: MessageProjection,
    StreamFormat.AGUI: AguiProjection,
    StreamFormat.VERCEL: VercelProjection,
}


def create_projection(chosen: StreamFormat, position: StreamPosition, **options: Any) -> Projection:
    """Return the projection of a format with its `options`, which `AguiProjection` alone has."""
    return PROJECTIONS[chosen](position, **options)


def find_format(name: str) -> StreamFormat | None:
    """Return the format of this name; None where there is none."""
    return StreamFormat(name) if name in list(StreamFormat) else None


def negotiate_format(accept: str) -> StreamFormat | None:
    """Return the first format that an `Accept` header names, as in `text/event-stream; format=ag-ui`; None for none."""
    for entry in accept.split(","):
        media_type, *parameters = (part.strip() for part in entry.split(";"))
        if media_type.lower() != MEDIA_TYPE:
            continue
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip().lower() == "format" and (chosen := find_format(value.strip().strip('"').lower())) is not None:
                return chosen
    return None
