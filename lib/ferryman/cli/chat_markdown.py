"""A conversation as Markdown, for a file: what each side says, and the calls with their results folded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from ferryman.cli.safe_markdown import write_harmless
from ferryman.cli.screen import neutralize_controls

_TICKS = re.compile(r"`{3,}")


def write_markdown(title: str, messages: Iterable[Mapping[str, Any]]) -> str:
    """Return a document of `messages`, those of one branch, the oldest first."""
    parts = [f"# {' '.join(write_harmless(title).split()) or 'Conversation'}"]
    for message in messages:
        parts += _write_message(message)
    return "\n\n".join(parts) + "\n"


def _write_message(message: Mapping[str, Any]) -> Iterator[str]:
    is_answer = message["role"] == "assistant"
    yield f"## {message['number']}. {'Agent' if is_answer else 'You'}, {str(message['created_at'])[:16].replace('T', ' ')}"
    for attachment in message["attachments"]:
        yield f"Attached: {_fence_word(attachment['key'])}"
    if not is_answer:
        yield write_harmless(message["content"])
        return
    results = {result["toolCallId"]: result for result in message["toolResults"]}
    for part in message["messages"]:
        if part["role"] == "assistant" and part.get("toolCalls"):
            if part["content"]:
                yield write_harmless(part["content"])
            for call in part["toolCalls"]:
                yield _write_call(call, results.get(call["id"]))
    metadata = message["metadata"]
    yield write_harmless(message["content"] or f"*no answer: {metadata['error'] or metadata['state']}*")
    if metadata["state"] == "stopped":
        yield "*stopped*"


def _write_call(call: Mapping[str, Any], result: Mapping[str, Any] | None) -> str:
    arguments = json.dumps(call["arguments"], ensure_ascii=False, indent=1)
    content = "no result" if result is None else str(result["content"])
    head = f"<details><summary>{escape(neutralize_controls(call['name']))}</summary>"
    return "\n\n".join([head, _fence(arguments), _fence(content), "</details>"])


def _fence(text: str) -> str:
    """Return `text` as a block of code which nothing in it ends."""
    plain = neutralize_controls(text)
    ticks = "`" * max(3, *(len(match[0]) + 1 for match in _TICKS.finditer(plain)), 0)
    return f"{ticks}\n{plain}\n{ticks}"


def _fence_word(text: str) -> str:
    return f"`{neutralize_controls(text).replace('`', '·')}`"
