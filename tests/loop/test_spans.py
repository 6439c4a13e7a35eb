"""Spans of the loop: what is told of an execution, by OpenTelemetry's names for agents."""

from __future__ import annotations

from dataclasses import replace

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from ferryman.domain.calls.call import ToolCallResult
from ferryman.inmemory.log import TRACEPARENT
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from tests.loop.conftest import fetches, says


async def test_a_delivery_its_model_calls_and_its_tools_each_have_their_span(stage):
    stage.memory.executions["e"] = replace(stage.execution, trace=TRACEPARENT)
    await stage.run(fetches(2), says("done"))
    names = [span.name for span in stage.log.spans]
    assert names == ["invoke_agent t", "chat scripted/x", "tool.execute", "tool.execute", "chat scripted/x"]
    assert stage.log.spans[0].parent == TRACEPARENT


async def test_a_model_call_tells_its_tokens_and_why_it_stopped(stage):
    await stage.run(says("done"))
    chat = stage.log.spans[1].attributes
    assert (chat["gen_ai.operation.name"], chat["gen_ai.request.model"]) == ("chat", "scripted/x")
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (10, 10)
    assert chat["gen_ai.response.finish_reasons"] == ["end_turn"]


async def test_a_call_keeps_the_genai_attributes_of_a_tool(stage):
    await stage.run(fetches(), says("done"))
    tool = stage.log.spans[2].attributes
    assert (tool["gen_ai.operation.name"], tool["gen_ai.tool.name"]) == ("execute_tool", "http_get")
    assert (tool["gen_ai.tool.type"], tool["gen_ai.conversation.id"]) == ("function", stage.execution.id)


@pytest.mark.parametrize(("call", "error"), [(("http_get", {}), None), (("webhook", {}), "tool_not_enabled")])
async def test_a_call_tells_what_came_of_it_and_a_refusal_is_an_error_by_its_rule(stage, call, error):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "framed", response_status=204)
    await stage.run(says("", call), says("done"))
    tool = stage.log.spans[2].attributes
    assert tool.get("error.type") == error
    assert tool["gen_ai.tool.call.id"] == "toolu_0"
    assert (tool["http.response.status_code"] == 204) is (error is None)


async def test_an_answer_that_is_an_error_by_its_declaration_is_one_by_its_status(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "Error: HTTP 404\nframed", response_status=404)
    await stage.run(fetches(), says("done"))
    tool = stage.log.spans[2].attributes
    assert (tool["http.response.status_code"], tool["error.type"]) == (404, "404")


async def test_a_failed_call_is_an_error_in_the_span_which_lasts_as_long_as_the_call(stage):
    exporter = InMemorySpanExporter()
    stage.tracer = OtelTracer(stage.log, Settings(project="p", trace_content=True), processor=SimpleSpanProcessor(exporter))

    def answer(ticket):
        with stage.tracer.span("upstream"):
            return ToolCallResult(ticket.tool, "Error: HTTP 503\n[redacted:KEY] is no key", response_status=503)

    stage.on_call = answer
    await stage.run(fetches(), says("done"))
    upstream, tool = (
        next(span for span in exporter.get_finished_spans() if span.name == name) for name in ("upstream", "tool.execute")
    )
    assert tool.start_time <= upstream.start_time <= upstream.end_time <= tool.end_time
    assert (tool.status.status_code, tool.attributes["error.type"]) == (StatusCode.ERROR, "503")
    assert tool.attributes["gen_ai.tool.call.result"] == stage.results[0].content
