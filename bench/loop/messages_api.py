"""A small Messages API in a process of its own: /ROUNDS/DELAY_MS/v1/messages asks for ROUNDS tool rounds, and then answers.

How far a conversation is, its messages tell: nothing is kept, so any number of them may go on at once.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

TOOL = "http_get"
TEXT = "I will read the next page, as the task says."
CUT = 24
"""Characters of one event of a stream."""


def build_reply(rounds: int, body: dict[str, Any]) -> dict[str, Any]:
    """Return the message that answers `body`: a call of the tool, or the end."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    content: list[dict[str, Any]] = [{"type": "text", "text": TEXT}]
    if turn < rounds:
        arguments = {"url": f"https://api.bench.test/pages/{turn}"}
        content.append({"type": "tool_use", "id": f"toolu_{turn:06d}", "name": TOOL, "input": arguments})
    return {
        "id": f"msg_{turn:06d}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if turn < rounds else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 20, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    }


def build_events(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events in which a stream says `reply`."""
    start = {**reply, "content": [], "stop_reason": None, "usage": {**reply["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(reply["content"]):
        if block["type"] == "text":
            empty, name, kind, text = {**block, "text": ""}, "text", "text_delta", block["text"]
        else:
            empty, name, kind, text = {**block, "input": {}}, "partial_json", "input_json_delta", json.dumps(block["input"])
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        for at in range(0, len(text), CUT):
            delta = {"type": kind, name: text[at : at + CUT]}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": reply["usage"]["output_tokens"]}})
    return [*events, {"type": "message_stop"}]


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            rounds, delay_ms = head.split(b" ", 2)[1].split(b"/")[1:3]
            lines = head.lower().split(b"\r\n")
            length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
            body = json.loads(await reader.readexactly(length))
            await asyncio.sleep(int(delay_ms) / 1000)
            reply = build_reply(int(rounds), body)
            if body.get("stream"):
                kind, events = "text/event-stream; charset=utf-8", build_events(reply)
                answer = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
            else:
                kind, answer = "application/json", json.dumps(reply).encode()
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(answer)}\r\n\r\n".encode() + answer)
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**24, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until its parent process ends


if __name__ == "__main__":
    asyncio.run(main())
