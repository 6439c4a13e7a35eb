"""Streams over the whole stack that break off while the answer is written, and go on from the last id that came."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import httpx

from tests.campaigns.streams.cuts import parse_frames
from tests.campaigns.streams.cutting import FORMATS, read
from tests.journeys.conftest import Journey, asks, call
from tests.journeys.test_streaming import http, write_slowly

__all__ = ["http"]

EVENTS_AT_ONCE = 3
"""After so many events a connection is given up."""


async def read_in_pieces(http: httpx.AsyncClient, address: str, name: str) -> str:
    """Return what came of a stream over connections of a few events each, every one after the last id of the one before."""
    text, last = "", ""
    while True:
        headers = {"Last-Event-ID": last} if last else {}
        async with http.stream("GET", address, params={"format": name}, headers=headers) as answer:
            if answer.status_code == 204:
                return text
            piece = ""
            with suppress(httpx.RemoteProtocolError):
                async for part in answer.aiter_text():
                    piece += part
                    if len(parse_frames(piece)) >= EVENTS_AT_ONCE:
                        break
        text += piece[: piece.rfind("\n\n") + 2]
        last = next((frame.id for frame in reversed(parse_frames(text)) if frame.id), last)


async def test_streams_in_pieces_are_the_whole_answer_in_every_format(journey: Journey, http: httpx.AsyncClient) -> None:
    await journey.admin.set_script(journey.name, {"steps": [asks(call("calculator", expression="6 * 7")), write_slowly()]})
    task = {"name": "Ferries", "task_prompt": "Answer.", "model": f"scripted/{journey.name}", "tools": ["calculator"]}
    task_id = (await http.post("/v1/tasks", json=task)).json()["task_id"]
    question = {"content": "Where is it?", "stream": True}
    async with http.stream("POST", f"/api/agents/{task_id}/chat", json=question) as answer:
        start = await anext(line async for line in answer.aiter_lines() if line.startswith("data: "))
    address = f"/v1/conversations/{json.loads(start.removeprefix('data: '))['conversationId']}/events"
    pieces = await asyncio.gather(*(read_in_pieces(http, f"{address}?answer=2", name) for name in FORMATS))
    for name, text in zip(FORMATS, pieces, strict=True):
        whole = (await http.get(address, params={"answer": 2, "format": name})).text
        assert without_history(read(name, parse_frames(text))) == without_history(read(name, parse_frames(whole)))


def without_history(state: Any) -> Any:
    """Return a final state without the question: a client of AG-UI has it before the stream begins."""
    return [[part for part in parts if not is_question(part)] if isinstance(parts, list) else parts for parts in state]


def is_question(part: Any) -> bool:
    return isinstance(part, dict) and part.get("role") == "user"
