"""Spans: what the loop tells of itself, by the GenAI conventions of OpenTelemetry."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.message import Block, Prompt, Reply
from ferryman.loop.house import House
from ferryman.ports import Span

PROVIDER = "anthropic"
_ID = re.compile(r"toolu_[A-Za-z0-9_]{1,58}", re.ASCII)


def agent(house: House, execution: Execution) -> AbstractContextManager[Span]:
    """One delivery of an execution."""
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.id": execution.task,
        "gen_ai.conversation.id": execution.id,
        "ferryman.slice": execution.slice,
        "ferryman.epoch": execution.epoch,
    }
    return house.tracer.span(f"invoke_agent {execution.task}", attributes, kind="server", parent=execution.trace)


def chat(house: House, execution: Execution, prompt: Prompt) -> AbstractContextManager[Span]:
    """One model call."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.conversation.id": execution.id,
        "gen_ai.request.model": prompt.model,
        "gen_ai.request.max_tokens": prompt.max_tokens,
        "gen_ai.request.temperature": prompt.temperature,
    }
    return house.tracer.span(f"chat {prompt.model}", attributes, kind="client")


def replied(span: Span, reply: Reply) -> None:
    """What came of a model call, in numbers."""
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


def said(span: Span, content: Sequence[Block]) -> None:
    """What the model said, scanned."""
    span.content({"gen_ai.output.messages": json.dumps([{"role": "assistant", "content": list(content)}])})


def tool(house: House, execution: Execution, ticket: Ticket) -> AbstractContextManager[Span]:
    """One call, from its admission to its result."""
    # a name that the task does not have is the model's own text, and an id may be
    name = ticket.tool if execution.remit is not None and ticket.tool in execution.remit.enabled else "?"
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": ticket.call if _ID.fullmatch(ticket.call) else "?",
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": execution.id,
        "ferryman.call": ticket.seq,
    }
    return house.tracer.span(f"execute_tool {name}", attributes, kind="client")


def carried(span: Span, ticket: Ticket, result: ToolCallResult) -> None:
    """What came of a call; a refusal is an error of its own type, an answer that is one of its status."""
    span.set({"http.response.status_code": result.response_status, "ferryman.block_reason": result.block_reason})
    span.content({"gen_ai.tool.call.arguments": json.dumps(dict(ticket.shown)), "gen_ai.tool.call.result": result.content})
    if result.failed:
        span.failed(result.block_reason or str(result.response_status or "failed"))
