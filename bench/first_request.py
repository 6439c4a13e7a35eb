"""From the start of the orchestrator's process to its first request to the model, beside the same with all imported eagerly.

Run with `python -m bench.first_request [--pairs 9]`. Both are served by the bare functions-framework beside a local stack
whose own orchestrator rests: each is spawned, delivered a new execution as Cloud Tasks does it, as soon as it listens, and
observed until its request arrives at a local Messages API in this process, which then ends the execution. The eager one
imports at its start what the other has imported by its end. They take turns; ratios are medians of pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from bench import Row, show
from bench.beside import start_function
from bench.loop import messages_api
from ferryman.client import AsyncClient
from ferryman.stack.admin import Admin
from tests.imports.table import FirstCall, prepare
from tests.stack import create_client, start_stack

ROOT = Path(__file__).resolve().parents[1]
LEAN = ROOT / "functions/orchestrator/main.py"
EAGER = """from ferryman.serving import orchestrator  # the first, so that httpx does without its command line here, too

import anthropic
import google.auth.jwt
import google.cloud.firestore
import google.cloud.secretmanager_v1
import google.cloud.tasks_v2
import httpx
import stamina

import ferryman.composition.orchestrator
import ferryman.loop.run
import ferryman.schedules.fire

main = orchestrator.serve()
"""
BAR = 0.8
PAIRS = 9
TASK = {
    "name": "bench",
    "task_prompt": "Say hello.",
    "model": "scripted/hello",
    "tools": ["http_get"],
    "integrations": ["coingecko"],
}


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """What it took until the first request to the model: seconds by the clock, and of processor time."""

    clock_s: float
    cpu_s: float


class MessagesApi:
    """A Messages API on a port of its own, in a thread; it notes when it was asked."""

    def __init__(self) -> None:
        self.received = threading.Event()
        self.received_at = 0.0
        self.url = ""
        self._listens = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self._listens.wait()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/0/0"  # no rounds of tools, no delay
        self._listens.set()
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received_at = time.perf_counter()
        self.received.set()
        await messages_api.serve(reader, writer)


@asynccontextmanager
async def rest_orchestrator(stack: Mapping[str, Any]) -> AsyncIterator[AsyncClient]:
    """Stop what would take executions away from the function that is measured; yield a client of a new owner."""
    async with Admin.from_note(stack) as admin:
        for function in ("on_execution", "orchestrator"):
            async with httpx.AsyncClient(headers=admin.bearer) as http:
                (await http.delete(f"{admin.url}/functions/{function}", timeout=60)).raise_for_status()
    async with await create_client(stack) as client:
        yield client


def measure(source: Path, first: FirstCall, execution: str, api: MessagesApi) -> FirstRequest:
    """Start an orchestrator, deliver an execution to it, and end it after the execution."""
    api.received.clear()
    delivery = {**first.call, "body": json.dumps({"execution": execution, "slice": 0, "waits": 0})}
    with start_function(source, first.env) as function:
        statuses: list[int] = []
        delivering = threading.Thread(target=lambda: statuses.append(function.send(delivery)))
        delivering.start()
        assert api.received.wait(60), "the model was never asked"
        request = FirstRequest(api.received_at - function.began, function.cpu_s)
        delivering.join()
        assert statuses == [200], statuses
        return request


async def measure_pairs(stack: Mapping[str, Any], eager: Path, pairs: int) -> list[tuple[FirstRequest, FirstRequest]]:
    """Return what ours and the eager one took, alternately, after one of each that is not counted."""
    api, measured = MessagesApi(), []
    async with rest_orchestrator(stack) as client:
        task = str((await client.create_task(TASK))["task_id"])
        for _ in range(pairs + 1):
            pair = []
            for source in (LEAN, eager):
                first = await prepare(stack, "orchestrator")
                first = replace(first, env={**first.env, "FERRYMAN_SCRIPTED_MODEL_URL": api.url})
                execution = str((await client.start_execution(task))["execution_id"])
                pair.append(await asyncio.to_thread(measure, source, first, execution, api))
            measured.append((pair[0], pair[1]))
    return measured[1:]


def rows(pairs: int = PAIRS) -> Iterator[Row]:
    """Measure both on a stack of their own."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="first-request-") as folder:
        eager = Path(folder) / "eager.py"
        eager.write_text(EAGER)
        plans = json.dumps({"pro": {"like": "pro", "calls_per_minute": 100_000}})
        with start_stack(Path(folder) / "data", FERRYMAN_PLANS=plans) as stack:
            measured = asyncio.run(measure_pairs(stack, eager, pairs))
    ratio = statistics.median(ours.clock_s / other.clock_s for ours, other in measured)
    spent = statistics.median(ours.cpu_s / other.cpu_s for ours, other in measured)
    seconds = statistics.median(ours.clock_s for ours, _ in measured)
    yield Row(
        "from the start of the process to the first request to the model, over all imported eagerly",
        f"<= {BAR:g}x",
        f"{ratio:.2f}x",
        ratio <= BAR,
        f"{seconds:.2f} s; processor time {spent:.2f}x",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    sys.exit(show(rows(parser.parse_args().pairs)))
