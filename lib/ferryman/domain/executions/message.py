"""Messages: what passes between the loop and the model, in the blocks of the Messages API."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.call import ToolCall
from ferryman.domain.executions.usage import Usage

Block = Mapping[str, Any]
"""One content block: text, tool_use or tool_result, as the Messages API spells them."""

Message = Mapping[str, Any]
"""{"role": "user" | "assistant", "content": str | [Block, …]}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything one model call is made of. A `closing` one asks for the answer: the tools are shown but may not be used."""

    model: str
    system: str = field(repr=False)
    messages: Sequence[Message] = field(repr=False)
    tools: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    max_tokens: int
    temperature: float | None = None
    closing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The model's answer: its blocks as they came, why it stopped, and what it cost in tokens."""

    content: Sequence[Block] = field(repr=False)
    stop_reason: str
    usage: Usage

    @property
    def text(self) -> str:
        return join_text(self.content)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return extract_calls(self.content)


def join_text(content: Sequence[Block]) -> str:
    """The text blocks of `content`, joined by newlines."""
    return "\n".join(str(block["text"]) for block in content if block["type"] == "text")


def extract_calls(content: Sequence[Block]) -> tuple[ToolCall, ...]:
    """The tool_use blocks of `content`, in order."""
    return tuple(
        ToolCall(id=block["id"], name=block["name"], arguments=block["input"])
        for block in content
        if block["type"] == "tool_use"
    )


def canonicalize_prompt(system: str, tools: Sequence[Mapping[str, Any]], messages: Sequence[Message]) -> bytes:
    """What a model is asked, as JSON in the one form that digests are made of: keys in order, nothing but ASCII."""
    return json.dumps([system, list(tools), list(messages)], sort_keys=True).encode()


def digest_prompt(asked: bytes) -> str:
    """The SHA-256 of what a model is asked, in hex."""
    return hashlib.sha256(asked).hexdigest()


def build_tool_result(call: str, content: str, *, is_error: bool) -> Block:
    """The block that answers the tool use `call`."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": content}
    if is_error:
        block["is_error"] = True
    return block
