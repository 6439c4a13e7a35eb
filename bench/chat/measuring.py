"""What is measured of a chat, by a client of a local stack."""

from __future__ import annotations

import asyncio
import json
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from bench import Row
from bench.chat import watchers
from bench.chat.provider import TimedProvider
from bench.stack import LIFTED
from ferryman.domain.conversations.window import measure_end
from ferryman.gcp.places import Places
from ferryman.stack import provision
from ferryman.stack.admin import Admin
from tests.stack import create_key, start_stack

QUESTIONS = 100
FIRST_MS, WINDOW_MS, WRITES = 20.0, 50.0, 1.0
KEY_LENGTH = 40
WORD = len("w00000 ")
WORDS_HELD = measure_end(["w00000 " * KEY_LENGTH], KEY_LENGTH)
ESCAPES_HELD = measure_end(["&amp;#115;" * KEY_LENGTH], KEY_LENGTH)
LOOK_S = 0.02
HOST = "api.coingecko.com"
CALLS, CALL_S, TOGETHER_S = 5, 1.0, 1.3
CACHED = 0.95


def find_high(values: Sequence[float], share: float) -> float:
    """Return the value that so large a share of `values` is at most."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class ChatBench:
    """A client of a stack, beside the provider of its model."""

    def __init__(self, stack: Mapping[str, Any], provider: TimedProvider, http: httpx.AsyncClient) -> None:
        self._stack, self._provider, self._http = stack, provider, http

    async def create_task(self, *, model: str = "timed", with_key: bool = False, **fields: Any) -> str:
        """Return a new task, with a credential where that is asked for."""
        task = {"name": "bench", "task_prompt": "Answer.", "model": model, "integrations": ["coingecko"], **fields}
        created = str((await self._http.post("/v1/tasks", json=task)).raise_for_status().json()["task_id"])
        if with_key:
            body = {"service": "coingecko", "value": secrets.token_hex(KEY_LENGTH // 2)}
            (await self._http.put(f"/v1/tasks/{created}/credentials/KEY", json=body)).raise_for_status()
        return created

    async def ask(self, task: str, **fields: Any) -> AsyncIterator[tuple[float, dict[str, Any]]]:
        """Ask, and yield the messages of the stream with the moment at which each came."""
        body = {"content": "Where is it?", "stream": True, **fields}
        async with self._http.stream("POST", f"/api/agents/{task}/chat", json=body) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield time.perf_counter(), json.loads(line.removeprefix("data: "))

    async def measure_first(self, task: str) -> float:
        """Return how many milliseconds after the provider has written it the first token comes."""
        moments = [moment async for moment, message in self.ask(task) if message["type"] == "content"]
        return (min(moments) - self._provider.written[0]) * 1000

    async def measure_lags(self, task: str, held_back: int) -> list[float]:
        """Return for each delta that was shown how many milliseconds it came after the one that decided it was written."""
        lags, characters = [], 0
        async for moment, message in self.ask(task):
            if message["type"] == "content":
                characters += len(message["content"])
                decided = -(-(characters + held_back) // WORD)
                if decided <= len(self._provider.written):
                    lags.append((moment - self._provider.written[decided - 1]) * 1000)
        return lags

    async def measure_windows(self, task: str, count: int) -> list[float]:
        """Return how many milliseconds windows of 1,000 characters take, asked for as the orchestrator asks for them."""
        windows: list[float] = []
        async with Admin.from_note(self._stack) as admin:
            url = self._stack["functions"]["api_call"]
            account = f"ferryman-orchestrator@{self._stack['project']}.iam.gserviceaccount.com"
            headers = {"Authorization": f"Bearer {await admin.create_token(account, url)}"}
            async for _, message in self.ask(task):
                if message["type"] == "start":
                    body = {"execution": message["executionId"], "task": task, "epoch": 1, "texts": ["The ferry is in. " * 60]}
                if message["type"] == "content" and len(windows) < count:
                    began = time.perf_counter()
                    answer = await self._http.post(f"{url}/window", json=body, headers=headers)
                    windows.append((time.perf_counter() - began) * 1000)
                    answer.raise_for_status()
        return windows

    async def count_writes(self, task: str) -> float:
        """Return how often a second the turn under way is stored while it is written."""
        clients = provision.connect(self._stack["env"])
        times: set[Any] = set()

        async def look(execution: str) -> None:
            live = Places(clients.firestore()).locate_live(execution)
            while True:
                snapshot = await live.get()
                times.update([snapshot.update_time] if snapshot.exists else [])
                await asyncio.sleep(LOOK_S)

        looking: asyncio.Task[None] | None = None
        began = time.perf_counter()
        async for _, message in self.ask(task):
            if message["type"] == "start":
                looking = asyncio.create_task(look(message["executionId"]))
        if looking is not None:
            looking.cancel()
        await clients.close()
        return len(times) / (time.perf_counter() - began)

    async def measure_calls(self) -> float:
        """Return how many seconds five calls of a second take that may run beside each other."""
        async with Admin.from_note(self._stack) as admin:
            route = {"method": "GET", "path": "/slow", "delay_s": CALL_S, "json": {"ok": True}}
            await admin.serve_routes(HOST, [route])
            calls = [{"name": "http_get", "input": {"url": f"https://{HOST}/slow?n={number}"}} for number in range(CALLS)]
            await admin.set_script("calls", {"steps": [{"text": "I look.", "tool_calls": calls}, {"text": "Done."}]})
        task = await self.create_task(model="scripted/calls", tools=["http_get"])
        times = [moment async for moment, message in self.ask(task) if message["type"] in ("tool_call", "tool_result")]
        return times[-1] - times[0]

    async def measure_cached(self) -> float:
        """Return the share of its prompt that the second turn of a conversation reads from the cache."""
        async with Admin.from_note(self._stack) as admin:
            await admin.set_script("cached", {"steps": [{"text": "In Harwich."}, {"text": "In Ely."}]})
        task = await self.create_task(model="scripted/cached", system_prompt="You know every ferry of the east coast. " * 300)
        conversation, cached, read = "", 0, 0
        for _ in range(2):
            more = {"conversationId": conversation} if conversation else {}
            async for _, message in self.ask(task, **more):
                conversation = message.get("conversationId", conversation)
                if message["type"] == "usage":
                    cached, read = message["cachedInputTokens"], message["inputTokens"]
        return cached / max(1, read)


@asynccontextmanager
async def open_bench(stack: Mapping[str, Any], provider: TimedProvider) -> AsyncIterator[ChatBench]:
    """Yield a bench on a stack whose model is `provider`'s."""
    headers, server = {"Authorization": f"Bearer {await create_key(stack)}"}, await provider.serve()
    async with server, httpx.AsyncClient(base_url=stack["url"], headers=headers, timeout=60) as http:
        yield ChatBench(stack, provider, http)


async def measure(stack: Mapping[str, Any], provider: TimedProvider, questions: int) -> list[Row]:
    async with open_bench(stack, provider) as bench:
        open_task, keyed = await bench.create_task(), await bench.create_task(with_key=True, tools=["api_call"])
        for task in (open_task, keyed):
            await bench.measure_first(task)
        first = [await bench.measure_first(open_task) for _ in range(questions)]
        provider.words, provider.first_s = 300, 0.1
        windows = await bench.measure_windows(keyed, questions)
        lags = await bench.measure_lags(keyed, WORDS_HELD)
        provider.words, provider.pause_s = 200, 0.05
        writes = await bench.count_writes(open_task)
        together, cached = await bench.measure_calls(), await bench.measure_cached()
    high, window = find_high(first, 0.95), find_high(windows, 0.95)
    return [
        Row(
            "chat: first token behind the provider's, no credentials, p95",
            f"<= {FIRST_MS:g} ms",
            f"{high:.1f} ms (median {find_high(first, 0.5):.1f}, of {questions})",
            high <= FIRST_MS,
        ),
        Row(
            "chat: a scanned window of 1,000 characters, p95",
            f"<= {WINDOW_MS:g} ms",
            f"{window:.1f} ms (median {find_high(windows, 0.5):.1f}); with a key of {KEY_LENGTH} characters "
            f"{WORDS_HELD} are held back, of escapes as in &amp;#115; {ESCAPES_HELD}, "
            f"and text is shown {find_high(lags, 0.5):.0f} ms after it is decided (median)",
            window <= WINDOW_MS,
        ),
        Row(
            "chat: writes of the turn under way a second",
            f"<= {WRITES:g}",
            f"{writes:.2f} over {provider.words * provider.pause_s:.0f} s",
            writes <= WRITES,
        ),
        Row(
            f"chat: {CALLS} calls of {CALL_S:g} s beside each other",
            f"<= {TOGETHER_S:g} s",
            f"{together:.2f} s",
            together <= TOGETHER_S,
        ),
        Row(
            "chat: of an unchanged prefix, read from the cache by the second turn",
            f">= {CACHED:.0%}",
            f"{cached:.1%}",
            cached >= CACHED,
        ),
    ]


def rows(questions: int = QUESTIONS) -> Iterable[Row]:
    """Yield what streaming adds and costs."""
    provider = TimedProvider()
    model = {"timed": {"url": f"http://127.0.0.1:{provider.port}", "model": "timed", "input": 1, "output": 1}}
    variables = {"FERRYMAN_MODELS": json.dumps(model), "FERRYMAN_PLANS": json.dumps({"pro": LIFTED})}
    with (
        tempfile.TemporaryDirectory(prefix="ferryman-bench-") as folder,
        start_stack(Path(folder) / "data", **variables) as stack,
    ):
        yield from asyncio.run(measure(stack, provider, questions))
    yield from watchers.rows()
