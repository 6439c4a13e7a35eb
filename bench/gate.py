"""What the gate's own work costs a call: a 1 KB request with ten credentials, beside a plain httpx call to the same TLS server;
and of it the scanner: built for one credential and for ten, and 50 KB of JSON scanned as text, as a body and as arguments.

Run with `python -m bench.gate`. Ratios of medians in one run; absolutes depend on the machine.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import statistics
import tempfile
import time
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

import httpx

from emulator.internet.authority import Authority
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.egress.build import create_context
from ferryman.egress.gate import EgressGate
from ferryman.egress.leaks import SecretScanner, redact_json
from ferryman.egress.stream import TlsStream
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import CallPolicy

HOST, ADDRESS, ROUNDS = "api.bench.test", ip_address("25.0.0.1"), 300
SCANS, DICE = 30, random.Random(1)
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


def make_credentials() -> dict[str, Credential]:
    generated = {}
    for number in range(10):
        name = f"KEY_{number}"
        label = Label(owner="o", task="t", name=name, version=1, service="s", auth_type=AuthType.BEARER, hosts=(HOST,))
        generated[name] = Credential(label=label, secret=Secret("sk-live-" + "".join(DICE.choices(LETTERS, k=40))))
    return generated


async def measure_calls(call) -> list[float]:
    durations = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await call()
        durations.append((time.perf_counter() - started) * 1000)
    return durations[ROUNDS // 10 :]


def build_rows() -> list[dict]:
    """Build 50 KB of JSON as an API answers it."""
    words = ["price", "volume", "open", "close", "high", "low", "signal", "average", "report", "market", "zone", "time"]
    rows: list[dict] = []
    while len(json.dumps(rows)) < 50_000:
        row = {"id": f"{DICE.getrandbits(128):032x}", "price": round(DICE.random() * 1000, 4), "at": "2026-01-07T10:00:00Z"}
        rows.append({**row, "note": " ".join(DICE.choices(words, k=12)), "url": f"https://{HOST}/v1/{DICE.randrange(10**6)}"})
    return rows


def measure_scanner() -> dict[str, list[float]]:
    keys, table = list(make_credentials().values()), build_rows()
    scanner, text = SecretScanner(keys), json.dumps(table)
    outbound = OutboundRequest(tool="http_post", method=Method.POST, url=f"https://{HOST}/v1", body={"rows": table})
    works: dict[str, Callable[[], object]] = {
        "scanner, 1 credential": lambda: SecretScanner(keys[:1]),
        "scanner, 10 credentials": lambda: SecretScanner(keys),
        "50 KB as text": lambda: scanner.find(text),
        "50 KB as a body": lambda: scanner.find_in_request(outbound),
        "50 KB as arguments": lambda: redact_json({"rows": table}, scanner),
    }
    durations: dict[str, list[float]] = {}
    for name, work in works.items():
        for _ in range(SCANS):
            started = time.perf_counter()
            work()
            durations.setdefault(name, []).append((time.perf_counter() - started) * 1000)
    return durations


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server_context.load_cert_chain(authority.issue(HOST))
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context)
        port = server.sockets[0].getsockname()[1]
        trust = create_context(authority.path)
        internet = Loopback(port)
        gate = EgressGate(names=internet, dial=internet, tls=trust, tracer=RecordingLog())
        keys = make_credentials()
        policy = ExecutionPolicy(owner="o", task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
        outbound = OutboundRequest(tool="api_call", method=Method.POST, url=f"https://{HOST}/v1", body=BODY, credential="KEY_0")

        async def call_through_gate() -> None:
            result = await gate.send(outbound, CallPolicy(execution=policy, credentials=keys))
            assert result.response_status == 200, result.content

        plain_trust = ssl.create_default_context(cafile=str(authority.path))
        plain_trust.check_hostname = False

        async def call_plainly() -> None:
            async with httpx.AsyncClient(verify=plain_trust, trust_env=False) as client:
                await client.post(f"https://127.0.0.1:{port}/v1", json=BODY, headers={"Host": HOST})

        gate_ms, plain_ms = await measure_calls(call_through_gate), await measure_calls(call_plainly)
        server.close()
    print(f"{'':24}{'p50 ms':>8}{'p95 ms':>8}")
    for name, durations in (("plain httpx", plain_ms), ("through the gate", gate_ms), *measure_scanner().items()):
        print(f"{name:24}{statistics.median(durations):8.2f}{sorted(durations)[int(len(durations) * 0.95)]:8.2f}")
    print(f"ratio of medians{statistics.median(gate_ms) / statistics.median(plain_ms):16.2f}")


if __name__ == "__main__":
    asyncio.run(main())
