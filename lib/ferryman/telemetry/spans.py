"""Spans: OpenTelemetry's, of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ferryman.settings import Settings

_PROPAGATOR = TraceContextTextMapPropagator()
_KINDS = {"server": SpanKind.SERVER, "client": SpanKind.CLIENT, "internal": SpanKind.INTERNAL}


class Spans:
    """The spans of a process, and where it sends them within `timeout_s` seconds, or the `processor` that takes them."""

    def __init__(self, settings: Settings, processor: SpanProcessor | None, *, timeout_s: float) -> None:
        self._project = settings.project
        self._with_content = settings.trace_content
        exports = processor is not None or settings.otlp_endpoint is not None
        self._provider = TracerProvider(
            resource=Resource.create({SERVICE_NAME: f"ferryman-{settings.function or 'local'}"}),
            # where nobody takes the spans, their names and numbers are enough: they join the lines of the log
            sampler=None if exports else ALWAYS_OFF,
        )
        if processor is not None:
            self._provider.add_span_processor(processor)
        elif settings.otlp_endpoint is not None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter(endpoint=f"{settings.otlp_endpoint}/v1/traces", timeout=timeout_s)
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("ferryman")

    @contextmanager
    def open(self, name: str, attributes: Mapping[str, Any], *, kind: str, parent: str) -> Iterator[OtelSpan]:
        """Open a span within the current one, or within that of the `parent`, a traceparent header (W3C Trace Context)."""
        context = _PROPAGATOR.extract({"traceparent": parent}) if parent else None
        with self._tracer.start_as_current_span(
            name,
            context,
            kind=_KINDS[kind],
            attributes=_plain(attributes),
            record_exception=False,
            set_status_on_exception=False,
        ) as opened:
            yield OtelSpan(opened, with_content=self._with_content)

    def write_traceparent(self) -> str:
        """Return the traceparent header of the current span, or an empty text."""
        headers: dict[str, str] = {}
        _PROPAGATOR.inject(headers)
        return headers.get("traceparent", "")

    def flush(self) -> bool:
        """Send what has not been sent."""
        return self._provider.force_flush()

    def locate(self) -> dict[str, Any]:
        """Return the fields by which Cloud Logging joins a line to its trace."""
        here = trace.get_current_span().get_span_context()
        if not here.is_valid:
            return {}
        return {
            "logging.googleapis.com/trace": f"projects/{self._project}/traces/{here.trace_id:032x}",
            "logging.googleapis.com/spanId": f"{here.span_id:016x}",
            "logging.googleapis.com/trace_sampled": here.trace_flags.sampled,
        }


class OtelSpan:
    """`ports.Span`."""

    def __init__(self, span: trace.Span, *, with_content: bool) -> None:
        self._span = span
        self._with_content = with_content

    def set(self, attributes: Mapping[str, Any]) -> None:
        self._span.set_attributes(_plain(attributes))

    def content(self, write: Callable[[], Mapping[str, Any]]) -> None:
        if self._with_content:
            self.set(write())

    def failed(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes as a span can have them: numbers, booleans, texts, and lists of texts."""
    plain: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, bool | int | float | str):
            plain[name] = value
        elif isinstance(value, list | tuple):
            plain[name] = [str(item) for item in value]
        elif value is not None:
            plain[name] = str(value)
    return plain
