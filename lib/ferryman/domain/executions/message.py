"""Messages between the loop and the model, in the blocks of the Messages API."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.call import ToolCall
from ferryman.domain.executions.usage import Usage

Block = Mapping[str, Any]  # one content block of any type, as the Messages API spells it; its `type` is a text
Message = Mapping[str, Any]  # {"role": "user" | "assistant", "content": str | [Block, …]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The input of one model call. A `closing` one asks for the answer: the tools are listed but may not be used.

    `encoded_messages` are the messages, each as JSON, where they are encoded already (`history.MessageHistory`).
    """

    model: str
    system: str = field(repr=False)
    messages: Sequence[Message] = field(repr=False)
    tools: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    max_tokens: int
    temperature: float | None = None
    closing: bool = False
    encoded_messages: Sequence[bytes] | None = field(default=None, repr=False, compare=False)

    def encode_messages(self) -> list[bytes]:
        """Return the messages, each as JSON."""
        if self.encoded_messages is not None:
            return list(self.encoded_messages)
        return [json.dumps(message, sort_keys=True).encode() for message in self.messages]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The model's answer: its blocks as received, why it stopped, and the tokens it used."""

    content: Sequence[Block] = field(repr=False)
    stop_reason: str
    usage: Usage

    @property
    def text(self) -> str:
        return join_text(self.content)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return extract_calls(self.content)


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """What the model has just written, unscanned: of block `index`, counted from 0, the `text` that follows.

    A block begins with a delta that may have no text. `call` and `name` are the id of a call and the name of its tool, and its
    text is its arguments as JSON; both are "" for a text.
    """

    index: int
    text: str = field(repr=False)
    call: str = ""
    name: str = ""


def join_text(content: Sequence[Block]) -> str:
    """Return the text blocks of `content`, joined by newlines."""
    return "\n".join(str(block["text"]) for block in content if block["type"] == "text")


def join_thinking(content: Sequence[Block]) -> str:
    """Return what the model shows of its thinking in `content`, joined by newlines."""
    return "\n".join(str(block["thinking"]) for block in content if block["type"] == "thinking" and block.get("thinking"))


def extract_calls(content: Sequence[Block]) -> tuple[ToolCall, ...]:
    """Return the tool_use blocks of `content`, in order."""
    return tuple(
        ToolCall(id=block["id"], name=block["name"], arguments=block["input"])
        for block in content
        if block["type"] == "tool_use"
    )


def canonicalize_prompt(system: str, tools: Sequence[Mapping[str, Any]], messages: Sequence[Message]) -> bytes:
    """Return the prompt as canonical JSON, of which digests are made: sorted keys, only ASCII."""
    return json.dumps([system, list(tools), list(messages)], sort_keys=True).encode()


def digest_prompt(canonical: bytes) -> str:
    """Return the SHA-256 of a canonical prompt, in hex."""
    return hashlib.sha256(canonical).hexdigest()


def build_tool_result(call: str, content: str | Sequence[Block], *, is_error: bool) -> Block:
    """Return the block that answers the tool use `call`."""
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": call,
        "content": content if isinstance(content, str) else list(content),
    }
    if is_error:
        block["is_error"] = True
    return block
