"""What a server answered as one text for the model, which goes through the gate's redaction and frame like any response.

A single text is that text; everything else is JSON, whose values are searched for credentials together. Bytes are described by
type and size: none of them is shown.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ferryman import offload
from ferryman.domain.http.request import InboundResponse
from ferryman.tools.mcp.protocol.bounds import SMALL_BYTES
from ferryman.tools.mcp.protocol.errors import ServerError
from ferryman.tools.mcp.protocol.results import Completed, ContentBlock, ContentKind

_MEDIA_TYPE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9.+_-]{0,63}/[a-zA-Z0-9][a-zA-Z0-9.+_-]{0,99}", re.ASCII)


async def render_off_loop(owner: str, completed: Completed) -> InboundResponse:
    """Return what `render_completed` does, from a worker process where the answer is not small."""
    if completed.size_bytes <= SMALL_BYTES:
        return render_completed(completed)
    try:
        return await offload.run(owner, offload.TEXT, render_completed, completed)
    except (offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError):
        return _respond("The answer is omitted, because it takes too long to read.", "text/plain")


def render_completed(completed: Completed) -> InboundResponse:
    """Return the result of a call as a response that `StreamGate.present` takes."""
    texts = [block.text for block in completed.content if block.kind is ContentKind.TEXT]
    is_text = len(texts) == len(completed.content) <= 1
    if is_text and completed.structured in (None, *({"result": text} for text in texts)):  # a text that an SDK has wrapped
        return _respond("".join(texts), "text/plain")
    if completed.structured is not None and is_text and (not texts or _is_same(texts[0], completed.structured)):
        return _respond(_write(completed.structured), "application/json")
    rendered: dict[str, Any] = {"content": [_render_block(block) for block in completed.content]}
    if completed.structured is not None:
        rendered["structuredContent"] = completed.structured
    return _respond(_write(rendered), "application/json")


def render_error(error: ServerError) -> InboundResponse:
    """Return what a server says of an error as a response that `StreamGate.present` takes."""
    return _respond(_write({"error": {"code": error.code, "message": error.message}}), "application/json")


def _render_block(block: ContentBlock) -> dict[str, Any]:
    rendered: dict[str, Any] = {"type": block.kind.value}
    texts = {"text": block.text, "uri": block.uri, "name": block.name}
    rendered |= {name: text for name, text in texts.items() if text}
    if block.mime_type:
        rendered["mimeType"] = block.mime_type if _MEDIA_TYPE.fullmatch(block.mime_type) else "unknown"
    if block.size_bytes is not None:
        rendered["bytes"] = f"{block.size_bytes:,} bytes, not shown"
    return rendered


def _is_same(text: str, structured: Any) -> bool:
    """Tell whether a text repeats the structured content, as servers do for older clients."""
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


offload.preload(render_completed)


def _respond(text: str, media_type: str) -> InboundResponse:
    body = text.encode()
    headers = (("content-type", f"{media_type}; charset=utf-8"),)
    return InboundResponse(status=200, headers=headers, body=body, size_bytes=len(body))
