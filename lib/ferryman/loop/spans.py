"""The spans of the loop, by the GenAI conventions of OpenTelemetry."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block, Prompt, Reply
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.log import Span

PROVIDER = "anthropic"
_ID = re.compile(r"toolu_[A-Za-z0-9_]{1,58}", re.ASCII)


def open_agent_span(deps: LoopDependencies, execution: Execution) -> AbstractContextManager[Span]:
    """Open the span of one delivery of an execution."""
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.id": execution.task,
        "gen_ai.conversation.id": execution.id,
        "ferryman.slice": execution.slice,
        "ferryman.epoch": execution.epoch,
    }
    return deps.tracer.span(f"invoke_agent {execution.task}", attributes, kind="server", parent=execution.trace)


def open_chat_span(deps: LoopDependencies, execution: Execution, prompt: Prompt) -> AbstractContextManager[Span]:
    """Open the span of one model call."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.conversation.id": execution.id,
        "gen_ai.request.model": prompt.model,
        "gen_ai.request.max_tokens": prompt.max_tokens,
        "gen_ai.request.temperature": prompt.temperature,
    }
    return deps.tracer.span(f"chat {prompt.model}", attributes, kind="client")


def record_reply(span: Span, reply: Reply) -> None:
    """Record the stop reason and the token counts of a model call."""
    usage = reply.usage
    span.set(
        {
            "gen_ai.response.finish_reasons": [reply.stop_reason],
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        }
    )


def record_output(span: Span, content: Sequence[Block]) -> None:
    """Record the model's output in its redacted form."""
    span.content(lambda: {"gen_ai.output.messages": json.dumps([{"role": "assistant", "content": list(content)}])})


def open_tool_span(deps: LoopDependencies, execution: Execution, ticket: Ticket) -> AbstractContextManager[Span]:
    """Open the span `tool.execute` (S1-37): one call, from its admission to its result, with the GenAI attributes of a tool."""
    # a name that the task does not have is the model's own text, and an id may be
    name = ticket.tool if execution.policy is not None and ticket.tool in execution.policy.enabled else "?"
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": ticket.call if _ID.fullmatch(ticket.call) else "?",
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": execution.id,
        "ferryman.call": ticket.seq,
    }
    return deps.tracer.span("tool.execute", attributes, kind="client")


def record_result(span: Span, ticket: Ticket) -> None:
    """Record the result of a settled call; the error type is the reason of a refusal, or the HTTP status of an error."""
    result = ticket.result
    assert result is not None, "a settled call has a result"
    span.set({"http.response.status_code": result.response_status, "ferryman.block_reason": result.block_reason})
    span.content(
        lambda: {
            "gen_ai.tool.call.arguments": json.dumps(dict(ticket.display_arguments)),
            "gen_ai.tool.call.result": result.content,
        }
    )
    if not result.ok:
        span.failed(result.block_reason or str(result.response_status or result.code or "failed"))
