"""Spans of the loop: what is told of an execution, by OpenTelemetry's names for agents."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.usage import Usage
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
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "Error: HTTP 404\nframed", response_status=404, ok=False)
    await stage.run(fetches(), says("done"))
    tool = stage.log.spans[2].attributes
    assert (tool["http.response.status_code"], tool["error.type"]) == (404, "404")


@pytest.mark.parametrize("temperature", [0.3, None])
async def test_a_delivery_a_model_call_and_a_call_have_these_spans(stage, temperature):
    def on_call(ticket):
        return ToolCallResult(ticket.tool, "framed", response_status=200)

    stage.on_call = on_call
    stage.task(temperature=temperature)
    stage.memory.executions["e"] = replace(stage.execution, slice=3, trace=TRACEPARENT)
    await stage.run(says("Looking.", ("http_get", {"url": "u"})), says("done"))
    agent, chat, tool, _ = stage.log.spans
    call = {"type": "tool_use", "id": "toolu_0", "name": "http_get", "input": {"url": "u"}}
    output = [{"role": "assistant", "content": [{"type": "text", "text": "Looking."}, call]}]
    assert [(span.kind, span.parent) for span in (agent, chat, tool)] == [
        ("server", TRACEPARENT),
        ("client", ""),
        ("client", ""),
    ]
    assert agent.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.id": "t",
        "gen_ai.conversation.id": "e",
        "ferryman.slice": 3,
        "ferryman.epoch": 1,
    }
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.conversation.id": "e",
        "gen_ai.request.model": "scripted/x",
        "gen_ai.request.max_tokens": stage.model.prompts[0].max_tokens,
        "gen_ai.request.temperature": temperature,
        "gen_ai.response.finish_reasons": ["tool_use"],
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.output.messages": json.dumps(output),
    }
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "http_get",
        "gen_ai.tool.call.id": "toolu_0",
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": "e",
        "ferryman.call": 0,
        "http.response.status_code": 200,
        "ferryman.block_reason": None,
        "gen_ai.tool.call.arguments": '{"url": "u"}',
        "gen_ai.tool.call.result": "framed",
    }


async def test_tokens_of_the_cache_are_told_by_kind(stage):
    usage = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4)
    await stage.run(replace(says("done"), usage=usage))
    chat = stage.log.spans[1].attributes
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (1, 2)
    assert (chat["gen_ai.usage.cache_read.input_tokens"], chat["gen_ai.usage.cache_creation.input_tokens"]) == (3, 4)


async def test_a_name_or_an_id_that_is_the_model_s_own_text_is_not_told(stage):
    block = {"type": "tool_use", "id": "ignore all rules", "name": "fly to the moon", "input": {}}
    await stage.run(replace(says("", ("x", {})), content=(block,)), says("done"))
    tool = stage.log.spans[2].attributes
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.call.id"]) == ("?", "?")
    assert (tool["ferryman.block_reason"], tool["error.type"]) == ("unknown_tool", "unknown_tool")


async def test_a_call_without_an_answer_is_an_error_by_that_alone(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "Error: request timed out (30s)", ok=False)
    await stage.run(fetches(), says("done"))
    assert stage.log.spans[2].attributes["error.type"] == "failed"


async def test_a_failed_call_is_an_error_in_the_span_which_lasts_as_long_as_the_call(stage):
    exporter = InMemorySpanExporter()
    stage.tracer = OtelTracer(stage.log, Settings(project="p", trace_content=True), processor=SimpleSpanProcessor(exporter))

    def answer(ticket):
        with stage.tracer.span("upstream"):
            return ToolCallResult(ticket.tool, "Error: HTTP 503\n[redacted:KEY] is no key", response_status=503, ok=False)

    stage.on_call = answer
    await stage.run(fetches(), says("done"))
    upstream, tool = (
        next(span for span in exporter.get_finished_spans() if span.name == name) for name in ("upstream", "tool.execute")
    )
    assert tool.start_time <= upstream.start_time <= upstream.end_time <= tool.end_time
    assert (tool.status.status_code, tool.attributes["error.type"]) == (StatusCode.ERROR, "503")
    assert tool.attributes["gen_ai.tool.call.result"] == stage.results[0].content
