"""Traces: OpenTelemetry's spans, and the log whose lines belong to them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ferryman.ports.log import Log
from ferryman.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

    from ferryman.telemetry.spans import OtelSpan, Spans

FLUSH_S = 2.0
"""How long a function waits, at the end of a request, for its spans to be sent: afterwards it may get no processor time."""


class OtelTracer:
    """`ports.Tracer`. `log` writes the lines; `processor` takes the spans instead of an exporter, in tests.

    OpenTelemetry is imported for the first span: what an instance answers before does not wait for it.
    """

    def __init__(self, log: Log, settings: Settings, *, processor: SpanProcessor | None = None) -> None:
        self._log = log
        self._settings = settings
        self._processor = processor
        self._exports = processor is not None or settings.otlp_endpoint is not None
        self._flushing: asyncio.Future[bool] | None = None

    @staticmethod
    def load() -> None:
        """Import OpenTelemetry: some ten milliseconds, which belong off the event loop where the first request has a span."""
        import_module("ferryman.telemetry.spans")

    @cached_property
    def _spans(self) -> Spans:
        from ferryman.telemetry.spans import Spans

        return Spans(self._settings, self._processor, timeout_s=FLUSH_S)

    @property
    def _has_spans(self) -> bool:
        """Whether there may be a current span: one that another tracer of the process opened is everybody's."""
        return "ferryman.telemetry.spans" in sys.modules

    def line(self, event: str, **fields: Any) -> None:
        self._log.line(event, **fields, **(self._spans.locate() if self._has_spans else {}))

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Any] | None = None, *, kind: str = "internal", parent: str = ""
    ) -> Iterator[OtelSpan]:
        with self._spans.open(name, attributes or {}, kind=kind, parent=parent) as span:
            try:
                yield span
            except BaseException as fault:
                span.failed(type(fault).__name__)
                raise

    def traceparent(self) -> str:
        return self._spans.write_traceparent() if self._has_spans else ""

    async def flush(self) -> None:
        if self._exports and self._has_spans:
            # the exporters do not keep the library's own limit: one that hangs is not waited for
            if self._flushing is None or self._flushing.done():
                self._flushing = asyncio.ensure_future(asyncio.to_thread(self._spans.flush))
            await asyncio.wait({self._flushing}, timeout=FLUSH_S)
