"""The ports of the log and of traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Log(Protocol):
    """One canonical line per event, never with a secret in it."""

    def line(self, event: str, **fields: Any) -> None: ...


class Span(Protocol):
    """A traced operation.

    `content` sets scanned texts of people and models, which are written out and kept only where the settings ask for them.
    """

    def set(self, attributes: Mapping[str, Any]) -> None: ...
    def content(self, write: Callable[[], Mapping[str, Any]]) -> None: ...
    def failed(self, kind: str) -> None: ...


class Tracer(Log, Protocol):
    """The log, and spans by OpenTelemetry's names. `parent` and `traceparent` have the form of W3C's Trace Context.

    `kind` is server, client or internal; `flush` is awaited at the end of a request.
    """

    def span(
        self, name: str, attributes: Mapping[str, Any] | None = None, *, kind: str = "internal", parent: str = ""
    ) -> AbstractContextManager[Span]: ...
    def traceparent(self) -> str: ...
    async def flush(self) -> None: ...
