"""Spans of the loop: what is told of an execution, by OpenTelemetry's names for agents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.call import ToolCallResult
from ferryman.local.log import TRACEPARENT
from tests.loop.conftest import fetches, says


async def test_a_delivery_its_model_calls_and_its_tools_each_have_their_span(stage):
    stage.memory.executions["e"] = replace(stage.execution, trace=TRACEPARENT)
    await stage.run(fetches(2), says("done"))
    names = [span.name for span in stage.log.spans]
    assert names == ["invoke_agent t", "chat scripted/x", "execute_tool http_get", "execute_tool http_get", "chat scripted/x"]
    assert stage.log.spans[0].parent == TRACEPARENT


async def test_a_model_call_tells_its_tokens_and_why_it_stopped(stage):
    await stage.run(says("done"))
    chat = stage.log.spans[1].attributes
    assert (chat["gen_ai.operation.name"], chat["gen_ai.request.model"]) == ("chat", "scripted/x")
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (10, 10)
    assert chat["gen_ai.response.finish_reasons"] == ["end_turn"]


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
