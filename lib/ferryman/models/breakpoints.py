"""Prompt caching: the four breakpoints of a request, up to which a provider may read what it has read before.

The last tool that is not deferred, the system prompt, the last message, and the message of a person or of results before it:
there the request before had its own last breakpoint, so that it is found however many blocks the turn between has added (a
provider looks 20 blocks back). The first two are what the executions of one task share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.executions.found_tools import DEFERRED
from ferryman.domain.executions.message import Block, Message

BREAKPOINT = {"cache_control": {"type": "ephemeral"}}
_UNMARKED = frozenset(("thinking", "redacted_thinking"))
"""Blocks that the Messages API takes no breakpoint at."""


def mark_tools(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tools with a breakpoint at the last one that is not deferred."""
    marked = list(tools)
    listed = [number for number, tool in enumerate(tools) if not tool.get(DEFERRED)]
    if listed:
        marked[listed[-1]] = {**marked[listed[-1]], **BREAKPOINT}
    return marked


def mark_system(system: str) -> str | list[dict[str, Any]]:
    """Return the system prompt as a block with a breakpoint; an empty one as it is."""
    return [{"type": "text", "text": system, **BREAKPOINT}] if system else system


def mark_messages(messages: Sequence[Message], encoded: Sequence[bytes]) -> list[bytes]:
    """Return the `encoded` messages with a breakpoint at the last one, and at the one before it that a request ended with."""
    marked = list(encoded)
    for number in _find_ends(messages):
        message = messages[number]
        content = _mark_last(message["content"])
        if content is not None:
            marked[number] = json.dumps({**message, "content": content}, sort_keys=True).encode()
    return marked


def _find_ends(messages: Sequence[Message]) -> list[int]:
    """Return the places of the last message, and of the last before it that a request may have ended with."""
    last = len(messages) - 1
    before = [number for number in range(last) if messages[number]["role"] == "user"]
    return [*before[-1:], *([last] if messages else [])]


def _mark_last(content: str | Sequence[Block]) -> list[Block] | None:
    """Return the content with a breakpoint at its last block that takes one; None where there is none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content, **BREAKPOINT}] if content else None
    for number in reversed(range(len(content))):
        if content[number]["type"] not in _UNMARKED:
            return [*content[:number], {**content[number], **BREAKPOINT}, *content[number + 1 :]]
    return None
