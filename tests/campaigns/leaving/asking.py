"""One owner's chats on a stack: asked, left, read again and stopped."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from ferryman.stack.admin import Admin
from tests.stack import create_key

AGAIN_S = 0.1
ENDS_S = 120.0
TEXT = "In Harwich, where it has been since the war. " * 4
DELAY_MS = 40
HOST = "api.coingecko.com"
PATH = "/leaving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """A client of the API, the cloud's admin, and a task whose answers are one text."""

    http: httpx.AsyncClient
    admin: Admin
    task: str

    async def read_until(self, seconds: float) -> str:
        """Ask, read the stream for so long or to its end, and leave. Return the execution."""
        execution, until = "", time.monotonic() + seconds
        async with aclosing(self.ask()) as messages:
            async for message in messages:
                execution = message.get("executionId", execution)
                if time.monotonic() >= until:
                    break
        return execution

    async def ask(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the messages of the stream of an answer, in a conversation of its own."""
        body = {"content": "Where is it?", "stream": True}
        async with self.http.stream("POST", f"/api/agents/{self.task}/chat", json=body) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    async def read_last(self, execution: str) -> Mapping[str, Any]:
        """Return the last message of an answer, once it has ended and there is an API."""
        async with asyncio.timeout(ENDS_S):
            while True:
                try:
                    answer = await self.http.get(f"/v1/executions/{execution}/events?format=message")
                    messages = [line for line in answer.text.splitlines() if line.startswith("data: ")]
                    if messages and (last := json.loads(messages[-1].removeprefix("data: ")))["type"] in ("done", "error"):
                        return last  # type: ignore[no-any-return] # JSON
                except httpx.TransportError:
                    pass
                await asyncio.sleep(AGAIN_S)


@asynccontextmanager
async def open_chats(stack: Mapping[str, Any], *steps: Mapping[str, Any], **fields: Any) -> AsyncIterator[Chats]:
    """Yield the chats of a new owner, whose model takes these steps in each of them."""
    headers = {"Authorization": f"Bearer {await create_key(stack)}"}
    async with Admin.from_note(stack) as admin, httpx.AsyncClient(base_url=stack["url"], headers=headers, timeout=60) as http:
        await admin.set_script("leaving", {"steps": list(steps)})
        await admin.serve_routes(HOST, [{"method": "GET", "path": PATH, "json": {"ok": True}, "delay_s": 0.2}])
        task = {
            "name": "Ferries",
            "task_prompt": "Answer.",
            "model": "scripted/leaving",
            "integrations": ["coingecko"],
            **fields,
        }
        created = await http.post("/v1/tasks", json=task)
        yield Chats(http=http, admin=admin, task=created.raise_for_status().json()["task_id"])
