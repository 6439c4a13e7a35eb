"""What the gate's work costs a call of 1 KB of JSON both ways, beside one shared httpx client to the same TLS server.

    python -m bench.gate

Processor time of this process and of its workers; the server has a process of its own. Both alternate in blocks, and a ratio
is the median of those of neighbouring blocks. Ours makes ten calls in each execution, with a connection of its own and all
checks; the other keeps its connections and has no key to look for.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from ipaddress import ip_address
from pathlib import Path

import httpx

from bench import Row, show
from bench.cpu import measure_tree
from bench.upstream import ANSWER, start_upstream
from emulator.internet.authority import Authority
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.egress.checking import CallChecker
from ferryman.egress.gate import EgressGate
from ferryman.egress.stream import TlsStream
from ferryman.egress.tls import create_context
from ferryman.inmemory.log import RecordingLog
from ferryman.offload.fork_server import server
from ferryman.ports.gate import CallPolicy

HOST, ADDRESS = "api.bench.test", ip_address("25.0.0.1")
CALLS, WARM_UP = 10, 1
DICE = random.Random(1)
JSON_HEADERS = (("content-type", "application/json"),)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
BODY = {"note": "x" * 900, "items": list(range(20))}


class Loopback:
    """Names and dialer for the one host of the bench."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def resolve(self, _: str, **_for: str) -> list:
        return [ADDRESS]

    async def dial(self, _address, _port, *, timeout_s):
        return await TlsStream.connect("127.0.0.1", self.port, timeout_s)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0)
    await reader.readexactly(length)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1024\r\nconnection: close\r\n\r\n" + b"y" * 1024)
    await writer.drain()
    writer.close()


def make_credentials(count: int = 10) -> dict[str, Credential]:
    generated = {}
    for number in range(count):
        name = f"KEY_{number}"
        label = Label(owner="o", task="t", name=name, version=1, service="s", auth_type=AuthType.BEARER, hosts=(HOST,))
        generated[name] = Credential(label=label, secret=Secret("sk-live-" + "".join(DICE.choices(LETTERS, k=40))))
    return generated


def build_rows() -> list[dict]:
    """Build 50 KB of JSON as an API answers it."""
    words = ["price", "volume", "open", "close", "high", "low", "signal", "average", "report", "market", "zone", "time"]
    rows: list[dict] = []
    while len(json.dumps(rows)) < 50_000:
        row = {"id": f"{DICE.getrandbits(128):032x}", "price": round(DICE.random() * 1000, 4), "at": "2026-01-07T10:00:00Z"}
        rows.append({**row, "note": " ".join(DICE.choices(words, k=12)), "url": f"https://{HOST}/v1/{DICE.randrange(10**6)}"})
    return rows


class Client:
    """One of the two, and what it has measured: seconds of the processor and by the clock for each call of a block."""

    def __init__(self, call: Callable[[int], Awaitable[None]]) -> None:
        self._call = call
        self.cpu_ms: list[float] = []
        self.wall_ms: list[float] = []

    async def run(self, executions: int, *, is_counted: bool) -> None:
        """Make ten calls in each of `executions` at once."""
        walls: list[float] = []

        async def execute(number: int) -> None:
            for _ in range(CALLS):
                started = time.perf_counter()
                await self._call(number)
                walls.append((time.perf_counter() - started) * 1_000)

        began = time.process_time() + measure_workers()
        await asyncio.gather(*(execute(number) for number in range(executions)))
        if is_counted:
            self.cpu_ms.append((time.process_time() + measure_workers() - began) * 1_000 / len(walls))
            self.wall_ms += walls


def measure_workers() -> float:
    """Return the processor time of all worker processes so far, in seconds."""
    started = server.process_id
    return 0.0 if started is None else measure_tree(started)


async def compare(port: int, authority: Authority, count: int, at_once: int, rounds: int) -> tuple[Client, Client]:
    """Return the gate with `count` credentials, and the shared client, each with `rounds` blocks measured."""
    internet, keys = Loopback(port), make_credentials(count)
    gate = EgressGate(names=internet, dial=internet, tls=create_context(authority.path), tracer=RecordingLog())
    policy = ExecutionPolicy(owner="o", task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
    outbound = OutboundRequest(tool="api_call", method=Method.POST, url=f"https://{HOST}/v1", body=BODY, credential="KEY_0")
    trust = ssl.create_default_context(cafile=str(authority.path))
    trust.check_hostname = False
    block = 0

    async def call_through_gate(number: int) -> None:
        call = CallPolicy(execution=policy, credentials=keys, execution_id=f"{count}-{at_once}-{block}-{number}")
        result = await gate.send(outbound, call)
        assert result.response_status == 200, result.content

    async with httpx.AsyncClient(verify=trust, trust_env=False, limits=httpx.Limits(max_connections=1_000)) as shared:

        async def call_plainly(_: int) -> None:
            await shared.post(f"https://127.0.0.1:{port}/v1", json=BODY, headers={"Host": HOST})

        ours, other = Client(call_through_gate), Client(call_plainly)
        for block in range(rounds + WARM_UP):
            for client in (ours, other):
                await client.run(at_once, is_counted=block >= WARM_UP)
    return ours, other


async def measure_checks(count: int = 10) -> float:
    """Return the processor time of the checks of one call alone, in milliseconds."""
    policy = ExecutionPolicy(owner="o", task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
    outbound = OutboundRequest(tool="api_call", method=Method.POST, url=f"https://{HOST}/v1", body=BODY, credential="KEY_0")
    inbound = InboundResponse(status=200, headers=JSON_HEADERS, body=ANSWER, size_bytes=len(ANSWER))
    keys, spent = make_credentials(count), []
    for _ in range(100):
        began = time.process_time()
        checker = CallChecker(policy=policy, outbound=outbound, credentials=keys)
        await checker.prepare_request()
        await checker.build_result(inbound, "0" * 16)
        spent.append((time.process_time() - began) * 1_000)
    return statistics.median(spent)


def rows() -> Iterator[Row]:
    """Measure the rows of the gate."""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        with start_upstream(authority.issue(HOST)) as port:
            checks_ms = asyncio.run(measure_checks())
            for at_once, bar, rounds in ((1, 1.5, 20), (64, 0.6, 2)):
                ours, other = asyncio.run(compare(port, authority, 10, at_once, rounds))
                ratio = _get_ratio(ours, other)
                beside = f"{statistics.median(ours.cpu_ms):.2f} ms beside {statistics.median(other.cpu_ms):.2f}"
                what = f"CPU of a call through the gate, 10 credentials, {at_once} at once, beside a shared httpx client"
                yield Row(what, f"<= {bar}x", f"{ratio:.2f}x", ratio <= bar, f"{beside}; its checks alone {checks_ms:.2f}")
                if at_once == 1:
                    added = _get_p95(ours.wall_ms) - _get_p95(other.wall_ms)
                    yield Row("p95 that the gate adds to it", "<= 5 ms", f"{added:.1f} ms", added <= 5)
            yield _compare_counts(port, authority)


def _compare_counts(port: int, authority: Authority) -> Row:
    """Compare numbers of credentials by what each costs beside the other client, since the machine changes meanwhile."""
    ratios = {count: _get_ratio(*asyncio.run(compare(port, authority, count, 1, 10))) for count in (1, 10, 100)}
    growth = max(ratios.values()) / min(ratios.values())
    note = ", ".join(f"{count}: {ratio:.2f}x the other" for count, ratio in ratios.items())
    return Row("the same for 1, 10 and 100 credentials", "<= 1.2x", f"{growth:.2f}x", growth <= 1.2, note)


def _get_ratio(ours: Client, other: Client) -> float:
    return statistics.median(mine / its for mine, its in zip(ours.cpu_ms, other.cpu_ms, strict=True))


def _get_p95(durations: list[float]) -> float:
    return sorted(durations)[int(len(durations) * 0.95)]


if __name__ == "__main__":
    sys.exit(show(rows()))
