"""What one owner's worst texts cost another: ordinary calls alone, and beside an owner who sends the 200 worst texts known.

Both are in the same process on the same event loop, as in a function's instance: calls of 1 KB both ways through the gate with
ten credentials, and requests to the API. The other owner sends its texts in four ways, several at once: as the answers of its
upstream, as the arguments of its calls, as what its model says, and in documents that it imports. Alone and beside take turns
by the second, so that other load of the machine affects both alike.

Run with `python -m bench.neighbours [--texts 20] [--rounds N]`; some 2 minutes. The exit code is 1 where the 99th percentile of
all ordinary calls grows more than 1.5 times (of each way the 95th), or one of them fails.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench import worst
from bench.gate import BODY, HOST, Loopback, make_credentials
from emulator.internet.authority import Authority
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.plan import PRO
from ferryman.egress import checking
from ferryman.egress.gate import EgressGate
from ferryman.egress.tls import create_context
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import CallPolicy
from ferryman.serving import api
from ferryman.serving.api import limits
from ferryman.tools.arguments import parse_builtin
from ferryman.tools.http import PARSERS
from tests.serving.conftest import TASK, Stage

BAR = 1.5
SLICE_S, ROUNDS = 1.0, 12
FLOOD = 4
"""How many texts of the other owner are under way at once."""

FLOOD_DOCUMENTS = limits.IMPORTS_MAX
"""The same for imports: the API answers more of them with 429, and in one process that loop would measure itself."""

PAUSE_S = 0.01
ORDINARY = json.dumps(BODY).encode()


@dataclass
class Instance:
    """What an instance of a function has: a gate and an API on one event loop; and the two owners."""

    gate: EgressGate
    client: httpx.AsyncClient
    stage: Stage
    keys: dict[str, Credential]
    documents: list[bytes]
    paths: dict[str, str] = field(default_factory=dict)

    async def call(self, owner: str, arguments: dict[str, Any]) -> int | None:
        """Make a call as a tool function does, from parsing the arguments to checking the answer; return its status."""
        policy = ExecutionPolicy(owner=owner, task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
        arguments_sent = {"method": "POST", "credential": "KEY_0", **arguments}
        outbound = await parse_builtin(owner, "api_call", PARSERS["api_call"], arguments_sent)
        return (await self.gate.send(outbound, CallPolicy(execution=policy, credentials=self.keys))).response_status

    async def call_gate(self) -> bool:
        """Say whether an ordinary call through the gate is answered."""
        return await self.call("ann", {"url": f"https://{HOST}/ordinary", "body": BODY}) == 200

    async def call_api(self) -> bool:
        """Say whether an ordinary request to the API is answered."""
        answer = await self.client.get(self.paths["ann"], headers=self.stage.owner("ann"))
        return answer.status_code == 200


Work = Callable[[Instance, int, str], Awaitable[object]]


async def send_as_answer(instance: Instance, number: int, _: str) -> None:
    await instance.call("bob", {"url": f"https://{HOST}/worst/{number}", "body": {}})


async def send_as_arguments(instance: Instance, _: int, text: str) -> None:
    await instance.call("bob", {"url": f"https://{HOST}/ordinary", "body": {"text": text, "more": [text[:1_000]] * 10}})


async def send_as_model_text(instance: Instance, _: int, text: str) -> None:
    blocks = [{"type": "text", "text": text}, {"type": "tool_use", "id": "1", "name": "api_call", "input": {"body": text}}]
    with suppress(CallRefusedError):
        await checking.scan_output("bob", instance.keys.values(), blocks)


async def send_as_document(instance: Instance, number: int, _: str) -> None:
    # a minute later by the API's clock: no rate keeps an import away, nor the memory of one that was refused
    instance.stage.clock.turn(60)
    path = f"{instance.paths['bob']}/tools/import-openapi"
    headers = {**instance.stage.owner("bob"), "content-type": "application/json"}
    await instance.client.post(path, content=instance.documents[number], headers=headers)


def build_document(text: str) -> bytes:
    """Build the body of an import with 60 operations that all contain the text."""
    parameter = {"name": "q", "in": "query", "description": text[:4_000], "schema": {"type": "string", "default": text[:500]}}
    operation = {"summary": text[:2_000], "description": text[:8_000], "parameters": [parameter], "responses": {}}
    paths = {f"/{number}": {"get": operation} for number in range(60)}
    about = {"openapi": "3.0.3", "info": {"title": text[:200], "version": "1"}, "servers": [{"url": f"https://{HOST}"}]}
    return json.dumps({"spec": {**about, "paths": paths}, "dry_run": True}).encode()


WAYS: dict[str, Work] = {
    "as answers": send_as_answer,
    "as arguments": send_as_arguments,
    "as what the model says": send_as_model_text,
    "in documents": send_as_document,
}


@dataclass
class Samples:
    """Milliseconds of ordinary calls by (way, beside), how many failed, and how many texts were sent meanwhile."""

    calls: dict[tuple[str, bool], list[float]] = field(default_factory=dict)
    failed: int = 0
    texts: int = 0


async def measure_calls(instance: Instance, samples: list[float], seconds: float) -> int:
    """Make ordinary calls for `seconds`; return how many failed."""
    failed, until = 0, time.perf_counter() + seconds
    for work in itertools.cycle((instance.call_gate, instance.call_api)):
        if time.perf_counter() > until:
            return failed
        began = time.perf_counter()
        failed += not await work()
        samples.append((time.perf_counter() - began) * 1_000)
        await asyncio.sleep(PAUSE_S)
    return failed


@asynccontextmanager
async def send_beside(
    instance: Instance, work: Work, numbered: Iterator[tuple[int, str]], samples: Samples
) -> AsyncIterator[None]:
    """Send the other owner's texts while inside; those that were begun are finished before this returns."""
    ending = False

    async def send_texts() -> None:
        while not ending:
            number, text = next(numbered)
            samples.texts += 1
            await work(instance, number, text)
            # what is refused at once suspends nowhere in one process; over a socket it would
            await asyncio.sleep(0)

    senders = [asyncio.ensure_future(send_texts()) for _ in range(FLOOD_DOCUMENTS if work is send_as_document else FLOOD)]
    try:
        yield
    finally:
        ending = True
        await asyncio.gather(*senders)


async def run_rounds(instance: Instance, texts: list[str], rounds: int) -> Samples:
    """Measure alone and beside in turn, for every way of sending the texts."""
    samples = Samples()
    numbered = {way: itertools.cycle(enumerate(texts)) for way in WAYS}
    for number_done in range(rounds):
        for way, work in WAYS.items():
            for beside in (False, True) if number_done % 2 else (True, False):
                times = samples.calls.setdefault((way, beside), [])
                if not beside:
                    samples.failed += await measure_calls(instance, times, SLICE_S)
                    continue
                async with send_beside(instance, work, numbered[way], samples):
                    samples.failed += await measure_calls(instance, times, SLICE_S)
        print(f"  round {number_done + 1} of {rounds}, {samples.texts} texts", file=sys.stderr, flush=True)
    return samples


def report(samples: Samples) -> int:
    """Print the table; return how many bars are broken.

    The bar applies to the 99th percentile of all ordinary calls. Each way alone has too few of them for that on a busy machine:
    there it applies to the 95th.
    """
    broken = samples.failed
    print(
        f"{'the worst texts':24}{'alone p50':>10}{'p95':>8}{'p99 ms':>8}{'beside p50':>12}{'p95':>8}{'p99 ms':>8}{'ratio':>7}"
    )
    rows = [(way, samples.calls[way, False], samples.calls[way, True], 0.95) for way in WAYS]
    every = [sum((samples.calls[way, beside] for way in WAYS), list[float]()) for beside in (False, True)]
    for way, alone, beside, at in [*rows, ("all", *every, 0.99)]:
        before, after = ([percentile(times, share) for share in (0.5, 0.95, 0.99)] for times in (alone, beside))
        ratio = percentile(beside, at) / percentile(alone, at)
        broken += ratio > BAR
        figures = "".join(f"{figure:{width}.2f}" for figure, width in zip((*before, *after), (10, 8, 8, 12, 8, 8), strict=True))
        print(f"{way:24}{figures}{ratio:7.2f}{'  OVER' if ratio > BAR else ''}")
    calls = sum(map(len, samples.calls.values()))
    print(f"{calls} ordinary calls, {samples.failed} failed; {samples.texts} texts; the bar is {BAR} times")
    return broken


def percentile(times: list[float], at: float) -> float:
    """Return the sample below which the share `at` of them is."""
    return sorted(times)[min(len(times) - 1, int(len(times) * at))]


async def run_upstream(port_file: Path, folder: Path, count: int) -> None:
    """Serve ordinary answers and the worst texts, as a process of its own; write its port to `port_file`."""
    texts = [text.encode("utf-8", "replace") for text in worst.list_texts(count)]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length")), 0)
        await reader.readexactly(length)
        path = head.split(b" ", 2)[1]
        body = texts[int(path.rpartition(b"/")[2])] if path.startswith(b"/worst/") else ORDINARY
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(Authority(folder).issue(HOST))
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context)
    await asyncio.to_thread(port_file.write_text, str(server.sockets[0].getsockname()[1]))
    await asyncio.to_thread(sys.stdin.read)  # until the bench is gone


@asynccontextmanager
async def run_instance(count: int) -> AsyncIterator[Instance]:
    """Yield the instance, with its upstream in another process."""
    with tempfile.TemporaryDirectory() as name:
        folder, port_file = Path(name), Path(name) / "port"
        authority = Authority(folder)
        command = [sys.executable, "-m", "bench.neighbours", "--upstream", str(port_file), str(folder), "--texts", str(count)]
        child = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
        try:
            while not port_file.exists() or not port_file.read_text():
                assert child.returncode is None, "the upstream did not start"
                await asyncio.sleep(0.05)
            internet = Loopback(int(port_file.read_text()))
            gate = EgressGate(names=internet, dial=internet, tls=create_context(authority.path), tracer=RecordingLog())
            stage = Stage()
            transport = httpx.ASGITransport(app=api.create(stage.deps()))
            async with httpx.AsyncClient(transport=transport, base_url="http://api.test", timeout=60) as client:
                instance = Instance(
                    gate=gate,
                    client=client,
                    stage=stage,
                    keys=make_credentials(),
                    documents=[build_document(text) for text in worst.list_texts(count)],
                )
                for owner in ("ann", "bob"):
                    created = await client.post("/v1/tasks", json=TASK, headers=stage.owner(owner))
                    instance.paths[owner] = f"/v1/tasks/{created.json()['task_id']}"
                yield instance
        finally:
            if child.stdin is not None:
                child.stdin.close()
            await child.wait()


async def main(count: int, rounds: int) -> int:
    texts = worst.list_texts(count)
    async with run_instance(count) as instance:
        for _ in range(20):
            assert await instance.call_gate(), "an ordinary call does not arrive"
        return report(await run_rounds(instance, texts, rounds))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=worst.COUNT, help="how many of the texts")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each way takes its turn")
    parser.add_argument("--upstream", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.upstream:
        asyncio.run(run_upstream(*options.upstream, options.texts))
    else:
        sys.exit(1 if asyncio.run(main(options.texts, options.rounds)) else 0)
