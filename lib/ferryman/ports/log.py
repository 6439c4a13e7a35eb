"""The ports of the log and of traces."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Log(Protocol):
    """One canonical line per thing done; never a secret in it."""

    def line(self, event: str, **fields: Any) -> None: ...


class Span(Protocol):
    """A stretch of work that is traced. `content` is what somebody said, scanned, and kept only where that is asked for."""

    def set(self, attributes: Mapping[str, Any]) -> None: ...
    def content(self, attributes: Mapping[str, Any]) -> None: ...
    def failed(self, kind: str) -> None: ...


class Tracer(Log, Protocol):
    """The log, and spans by OpenTelemetry's names. `parent` and `traceparent` are as W3C's Trace Context writes them.

    `kind` is server, client or internal; `flush` is awaited at the end of a request.
    """

    def span(
        self, name: str, attributes: Mapping[str, Any] | None = None, *, kind: str = "internal", parent: str = ""
    ) -> AbstractContextManager[Span]: ...
    def traceparent(self) -> str: ...
    async def flush(self) -> None: ...
