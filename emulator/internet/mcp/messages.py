"""Messages: JSON-RPC answers, as JSON or as a stream of events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse

Message = Mapping[str, Any]


class McpRefusedError(Exception):
    """A request that is refused with an error of JSON-RPC, and an HTTP status."""

    def __init__(self, code: int, text: str, *, status: int = 400, data: Message | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.status = status
        self.data = data

    def as_json(self, number: object) -> dict[str, Any]:
        """Return the message."""
        error = {"code": self.code, "message": str(self), **({"data": self.data} if self.data else {})}
        return {"jsonrpc": "2.0", "id": number, "error": error}


def build_answer(number: object, result: Message) -> dict[str, Any]:
    """Return the message of a result."""
    return {"jsonrpc": "2.0", "id": number, "result": dict(result)}


def send(message: Message, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    """Return one message as JSON."""
    return JSONResponse(message, status, headers=dict(headers or {}))


def stream(messages: AsyncIterator[Message], headers: Mapping[str, str] | None = None) -> Response:
    """Return messages as they come, an event each."""
    return StreamingResponse(
        _write(messages),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})},
    )


async def _write(messages: AsyncIterator[Message]) -> AsyncIterator[bytes]:
    yield b": hello\n\n"
    async for message in messages:
        yield b"data: " + json.dumps(message, ensure_ascii=False).encode() + b"\n\n"
