"""Traces: one trace from end to end, nothing said in it unless is_enabled for, and log lines that name it."""

from __future__ import annotations

import json

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ferryman.inmemory.log import RecordingLog
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "sk-live-0123456789abcdef"


class Stage:
    def __init__(self, **settings) -> None:
        self.log, self.exporter = RecordingLog(), InMemorySpanExporter()
        self.traces = OtelTracer(self.log, Settings(project="p", **settings), processor=SimpleSpanProcessor(self.exporter))

    @property
    def spans(self):
        return self.exporter.get_finished_spans()


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_span_goes_on_with_the_trace_it_is_given(stage):
    with stage.traces.span("outer", parent=PARENT), stage.traces.span("inner", {"gen_ai.request.model": "m"}):
        assert stage.traces.traceparent().split("-")[1] == PARENT.split("-")[1]
    inner, outer = stage.spans
    assert f"{outer.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{outer.parent.span_id:016x}" == PARENT.split("-")[2]
    assert (inner.parent.span_id, inner.attributes["gen_ai.request.model"]) == (outer.context.span_id, "m")


@pytest.mark.parametrize("parent", ["", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
def test_a_parent_that_is_none_begins_a_trace(stage, parent):
    with stage.traces.span("outer", parent=parent):
        assert stage.traces.traceparent() != ""
    assert stage.spans[0].parent is None


def test_a_line_names_its_trace_as_cloud_logging_reads_it(stage):
    stage.traces.line("outside")
    with stage.traces.span("outer", parent=PARENT):
        stage.traces.line("inside", seq=3)
    (_, outside), (_, inside) = stage.log.lines
    assert outside == {}
    assert inside["logging.googleapis.com/trace"] == f"projects/p/traces/{PARENT.split('-')[1]}"
    assert (inside["seq"], inside["logging.googleapis.com/trace_sampled"]) == (3, True)


def test_a_fault_is_told_by_its_type_alone(stage):
    with pytest.raises(ValueError, match=SECRET), stage.traces.span("outer"):
        raise ValueError(SECRET)
    assert stage.spans[0].attributes["error.type"] == "ValueError"
    assert SECRET not in json.dumps(json.loads(stage.spans[0].to_json()))


@pytest.mark.parametrize("is_enabled", [False, True])
def test_what_was_said_is_kept_only_where_it_is_asked_for(is_enabled):
    stage = Stage(trace_content=is_enabled)
    with stage.traces.span("chat") as span:
        span.content(lambda: {"gen_ai.output.messages": "hello"})
    assert ("gen_ai.output.messages" in stage.spans[0].attributes) is is_enabled


async def test_spans_are_sent_by_the_end_of_the_request(stage):
    with stage.traces.span("outer"):
        pass
    await stage.traces.flush()
    assert len(stage.spans) == 1
