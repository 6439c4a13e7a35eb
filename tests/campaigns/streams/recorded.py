"""`make cuts`, on a stack: answers are recorded as they are written, and cut at every frame and at bytes of each, then resumed.

While an answer is written, clients of three protocols break off at random frames and come back. When it has ended, what was
sent is cut and asked for again from there. A client must have in the end what one has that was never interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx

from bench.stack import LIFTED
from ferryman.client.events import FrameParser
from ferryman.serving.streams.frame import Frame
from ferryman.stack.admin import Admin
from tests.campaigns.streams.clients import AguiClient, MessageClient, StrictClient, VercelClient, ViolationError
from tests.campaigns.streams.cuts import BYTES_DRAWN, FIELDS, WHOLE_RUNS, CutResults
from tests.stack import create_key, start_stack

CLIENTS: Mapping[str, type[StrictClient]] = {"message": MessageClient, "ag-ui": AguiClient, "vercel": VercelClient}
AT_ONCE = 4
BREAKS_MAX = 4
LOST_MAX = 5
"""How often in a row a connection may be lost that nobody has broken off: one that was idle, or a server that is overloaded."""
HOST = "api.coingecko.com"
PATHS = {"/fast": {"json": {"ok": True}}, "/slow": {"json": {"ok": True}, "delay_s": 0.1}, "/broken": {"status": 500}}
WORDS = ("ferry", "leaves", "Harwich", "at", "eleven;", "it", "is", "⛴", "à", "la", "mode.\n\n")


def write_script(random: Random) -> dict[str, Any]:
    """Return what the model says in one answer: texts, calls beside each other, errors, and a reply that breaks off."""
    steps: list[dict[str, Any]] = []
    for _ in range(random.randint(0, 3)):
        urls = [f"https://{HOST}{random.choice([*PATHS])}?n={random.randint(0, 99)}" for _ in range(random.randint(1, 4))]
        calls = [{"name": "http_get", "input": {"url": url}} for url in urls]
        steps.append({"text": write_text(random, 8), "tool_calls": calls, "stream": write_pace(random)})
    return {"steps": [*steps, {"text": write_text(random, 40), "stream": write_pace(random)}]}


def write_text(random: Random, most: int) -> str:
    """Return at most so many words."""
    return " ".join(random.choice(WORDS) for _ in range(random.randint(0, most))) or "Well."


def write_pace(random: Random) -> dict[str, Any]:
    """Return how a reply is streamed; some break off once, and are asked for again."""
    pace: dict[str, Any] = {"delay_ms": random.randint(0, 20), "ping_every": random.randint(0, 3)}
    if random.random() < 0.2:
        pace |= {"breaks_after": random.randint(0, 5)} | ({"error": "overloaded_error"} if random.random() < 0.5 else {})
    return pace


def read_all(name: str, frames: Sequence[Frame]) -> Any:
    """Return what a client of a protocol has that has read these. Raise `ViolationError` where they do not fit each other."""
    client = CLIENTS[name]()
    for frame in frames:
        client.read(frame)
    if not client.is_over:
        raise ViolationError("no end")
    return client.summarize()


class Recorder:
    """A client of the API that asks, watches, and comes back by the last id that it has."""

    def __init__(self, http: httpx.AsyncClient, admin: Admin, task: str, results: CutResults) -> None:
        self._http, self._admin, self._task, self._results = http, admin, task, results

    async def try_run(self, seed: int, *, drawn: int | None) -> None:
        """Record one answer, cut it, and note what was otherwise."""
        random = Random(seed)
        execution = await self._ask(f"cuts-{seed}", write_script(random))
        await asyncio.gather(*(self._try_format(execution, name, Random(f"{seed} {name}"), drawn) for name in CLIENTS))

    async def _ask(self, script: str, steps: Mapping[str, Any]) -> str:
        await self._admin.set_script(script, steps)
        body = {"content": "Where is it?", "stream": True, "model": f"scripted/{script}"}
        async with self._http.stream("POST", f"/api/agents/{self._task}/chat", json=body) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    return str(json.loads(line.removeprefix("data: "))["executionId"])
        raise ViolationError("no event")

    async def _try_format(self, execution: str, name: str, random: Random, drawn: int | None) -> None:
        breaking = asyncio.create_task(self._watch_and_break(execution, name, random))
        recorded = await self.resume(execution, name, ())
        whole = read_all(name, recorded)
        broken = await breaking
        self._judge(f"{name}, while it is written", f"{execution}, breaks", name, broken, whole)
        sent = "".join(frame.write("") for frame in recorded).encode()
        seen_at = [sent.count(b"\n\n", 0, place) for place in list_places(len(sent), random, drawn)]
        known = {seen: await self.resume(execution, name, recorded[:seen]) for seen in range(len(recorded) + 1)}
        for kind, counts in (("frames", list(known)), ("bytes", seen_at)):
            for seen in counts:
                self._judge(f"{name}, {kind}", f"{execution}, after {seen} frames", name, known[seen], whole)

    def _judge(self, kind: str, where: str, name: str, frames: Sequence[Frame], whole: Any) -> None:
        self._results.counts[kind] += 1
        try:
            reason = "" if read_all(name, frames) == whole else "another final state"
        except ViolationError as error:
            reason = str(error)
        if reason:
            self._results.violations.append(f"{kind}: {where}: {reason}")

    async def _watch_and_break(self, execution: str, name: str, random: Random) -> list[Frame]:
        seen: list[Frame] = []
        for _ in range(random.randint(1, BREAKS_MAX)):
            leaves_after = random.randint(0, 8)
            async with aclosing(self._watch(execution, name, seen)) as frames:
                new: list[Frame] = []
                with suppress(httpx.TransportError):
                    async for frame in frames:
                        new.append(frame)
                        if len(new) > leaves_after:
                            break
            seen += new
        return await self.resume(execution, name, seen)

    async def resume(self, execution: str, name: str, seen: Sequence[Frame]) -> list[Frame]:
        """Return what a client has in the end that had `seen`. Where a connection is lost, it comes back once more."""
        frames = [*seen]
        for _ in range(LOST_MAX):
            try:
                async for frame in self._watch(execution, name, frames):
                    frames.append(frame)  # noqa: PERF401 - what came before it was lost is kept
            except httpx.TransportError:
                self._results.counts["lost by themselves"] += 1
            else:
                break
        return frames

    async def _watch(self, execution: str, name: str, seen: Sequence[Frame] = ()) -> AsyncGenerator[Frame]:
        last = next((frame.id for frame in reversed(seen) if frame.id), None)
        headers = {} if last is None else {"Last-Event-ID": last}
        parser = FrameParser()
        url = f"/v1/executions/{execution}/events"
        async with self._http.stream("GET", url, params={"format": name}, headers=headers) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if fields := parser.feed(line):
                    yield Frame(*(fields.get(field, "") for field in FIELDS))


def list_places(length: int, random: Random, drawn: int | None) -> Sequence[int]:
    """Return so many places in a stream of this length, drawn; all where None."""
    return range(length + 1) if drawn is None else [random.randint(0, length) for _ in range(drawn)]


async def run(stack: Mapping[str, Any], runs: int, seed: int) -> CutResults:
    """Record, cut and resume so many answers, some beside each other."""
    results, limit, done = CutResults(), asyncio.Semaphore(AT_ONCE), Counter[str]()
    headers = {"Authorization": f"Bearer {await create_key(stack)}"}
    async with Admin.from_note(stack) as admin, httpx.AsyncClient(base_url=stack["url"], headers=headers, timeout=60) as http:
        await admin.serve_routes(HOST, [{"method": "GET", "path": path, **answer} for path, answer in PATHS.items()])
        fields = {"name": "Ferries", "task_prompt": "Answer.", "model": "scripted/cuts", "tools": ["http_get"]}
        task = (
            (await http.post("/v1/tasks", json={**fields, "integrations": ["coingecko"]})).raise_for_status().json()["task_id"]
        )
        recorder = Recorder(http, admin, task, results)

        async def try_one(number: int) -> None:
            async with limit:
                await recorder.try_run(seed + number, drawn=None if number < WHOLE_RUNS else BYTES_DRAWN)
            done["runs"] += 1
            if done["runs"] % 20 == 0:
                print(f"{done['runs']:>5} of {runs} answers, {len(results.violations)} otherwise", flush=True)

        await asyncio.gather(*map(try_one, range(runs)))
    return results


def main() -> int:
    """Record and cut answers on a stack; return 0 only where nothing was otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.streams.recorded", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="how many answers are recorded")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them")
    options, begun = parser.parse_args(), time.monotonic()
    variables = {"FERRYMAN_PLANS": json.dumps({"pro": {**LIFTED, "streams": 100}}), "FERRYMAN_RETRY_AFTER_S": "1"}
    with (
        tempfile.TemporaryDirectory(prefix="ferryman-cuts-") as folder,
        start_stack(Path(folder) / "data", **variables) as stack,
    ):
        results = asyncio.run(run(stack, options.runs, options.seed))
    print(f"{options.runs} answers recorded on a stack, {time.monotonic() - begun:.0f} s")
    return results.report()


if __name__ == "__main__":
    sys.exit(main())
