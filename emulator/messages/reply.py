"""Replies: a step as the service words it, whole or as a stream of events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from emulator.messages.cache import CacheUse
from emulator.messages.rules import count_tokens
from emulator.messages.script import ScriptStep

DELTA_CHARACTERS = 24
PIECE_BYTES = 1_000


def message(step: ScriptStep, request: Mapping[str, Any], name: str, cached: CacheUse | None = None) -> dict[str, Any]:
    """Return the whole message of a step, in answer to a request that uses the prompt cache so, or not at all."""
    content = [dict(block) for block in step.blocks]
    if step.text:
        content.append({"type": "text", "text": step.text})
    content += [{"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)} for call in step.uses]
    use = cached
    if use is None or step.input_tokens is not None:
        counted = count_tokens(request.get("system"), request.get("messages"), request.get("tools"))
        use = CacheUse(read=0, written=0, rest=counted if step.input_tokens is None else step.input_tokens)
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": content,
        "stop_reason": step.stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": use.rest,
            "cache_creation_input_tokens": use.written,
            "cache_read_input_tokens": use.read,
            "output_tokens": count_tokens(content) if step.output_tokens is None else step.output_tokens,
        },
    }


def stream(whole: Mapping[str, Any], characters: int | None = DELTA_CHARACTERS) -> Iterator[bytes]:
    """Yield the same message as server-sent events, in the service's order; a delta has so many characters, None: a word."""
    split = _split_words if characters is None else partial(_split_evenly, size=characters)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield _event("message_start", message=begun)
    yield _event("ping")
    for index, block in enumerate(whole["content"]):
        yield _event("content_block_start", index=index, content_block=_begin(block))
        for delta in _deltas(block, split):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": whole["stop_sequence"]}
    yield _event("message_delta", delta=ending, usage={"output_tokens": whole["usage"]["output_tokens"]})
    yield _event("message_stop")


def split_stream(events: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a stream in pieces as a network has them: several events in one, and events that are torn between two."""
    content = b"".join(events)
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


def error(kind: str, text: str, name: str) -> dict[str, Any]:
    """Return an error as the service words it."""
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": name}


def _begin(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block as its first event shows it, without what its deltas add."""
    kind = block["type"]
    if kind == "text":
        begun = {**block, "text": ""}
        return {**begun, "citations": []} if block.get("citations") else begun
    if kind == "thinking":
        return {**block, "thinking": "", "signature": ""}
    if kind == "compaction":
        return {**block, "content": None}
    return {**block, "input": {}} if "input" in block else dict(block)


def _deltas(block: Mapping[str, Any], split: Callable[[str], Iterable[str]]) -> Iterator[dict[str, Any]]:
    kind = block["type"]
    if kind == "text":
        for citation in block.get("citations") or ():
            yield {"type": "citations_delta", "citation": citation}
        for part in split(block["text"]):
            yield {"type": "text_delta", "text": part}
    elif kind == "thinking":
        for part in split(block["thinking"]):
            yield {"type": "thinking_delta", "thinking": part}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif kind == "compaction":
        members = {name: block[name] for name in ("content", "encrypted_content") if name in block}
        yield {"type": "compaction_delta", **members}
    elif "input" in block:
        for part in ["", *split(json.dumps(block["input"]))]:
            yield {"type": "input_json_delta", "partial_json": part}


def _split_words(text: str) -> list[str]:
    return [part for part in re.findall(r"\S*\s*", text) if part]


def _split_evenly(text: str, *, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
