"""Frames: what is sent of a moment, as one event of a stream (HTML, Server-sent events)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

MEDIA_TYPE = "text/event-stream"
KEEP_ALIVE = ": still here\n\n"
KEEP_ALIVE_S = 15.0
"""After how many seconds without an event a comment is sent: it keeps the connection open at every proxy on the way."""


@dataclass(frozen=True, slots=True)
class Frame:
    """An event of a stream: `id` is the position behind it, `event` its type, "" for the default one, `data` one line.

    One without an id is of the moment: who comes back does not get it again.
    """

    id: str
    event: str
    data: str = field(repr=False)

    def write(self, prefix: str = "") -> str:
        """Return the frame as it is sent, with `prefix` before its id."""
        head = (f"id: {prefix}{self.id}\n" if self.id else "") + (f"event: {self.event}\n" if self.event else "")
        return f"{head}data: {self.data}\n\n"


def encode(body: Mapping[str, Any]) -> str:
    """Return `body` as one line of JSON, only ASCII: no text of a stranger can end the line."""
    return json.dumps(body, default=_write)


def _write(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
