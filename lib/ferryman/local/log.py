"""A log that is kept, to be read by whoever asks what was logged."""

from __future__ import annotations

from typing import Any


class KeptLog:
    """`ports.Tracer`: `lines` holds every event with its fields."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def line(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))
