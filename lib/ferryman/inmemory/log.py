"""A log that records its lines and spans, and one that drops them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class RecordingSpan:
    """`ports.Span`: what was set on it, content included."""

    def __init__(self, name: str, attributes: Mapping[str, Any], kind: str, parent: str) -> None:
        self.name = name
        self.kind = kind
        self.attributes = dict(attributes)
        self.parent = parent

    def set(self, attributes: Mapping[str, Any]) -> None:
        self.attributes.update(attributes)

    def content(self, write: Callable[[], Mapping[str, Any]]) -> None:
        self.attributes.update(write())

    def failed(self, kind: str) -> None:
        self.attributes["error.type"] = kind


class RecordingLog:
    """`ports.Tracer`: `lines` holds every event with its fields, `spans` every span in the order they began."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.spans: list[RecordingSpan] = []

    def line(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Mapping[str, Any] | None = None,
        *,
        kind: str = "internal",
        parent: str = "",
    ) -> Iterator[RecordingSpan]:
        span = RecordingSpan(name, attributes or {}, kind, parent)
        self.spans.append(span)
        try:
            yield span
        except BaseException as fault:
            span.failed(type(fault).__name__)
            raise

    def traceparent(self) -> str:
        return TRACEPARENT

    async def flush(self) -> None:
        return


class NoLog:
    """`ports.Log` that drops its lines."""

    def line(self, event: str, **fields: Any) -> None:
        pass
