"""What the gate's own work costs a call: a 1 KB request with ten credentials, beside a plain httpx call to the same TLS server.

Run with `python -m bench.gate`. Ratios of medians in one run; absolutes depend on the machine.
"""

from __future__ import annotations

import asyncio
import ssl
import statistics
import tempfile
import time
from ipaddress import ip_address
from pathlib import Path

import httpcore
import httpx

from emulator.internet.authority import Authority
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.http import Method, Outbound
from ferryman.domain.plan import PRO
from ferryman.domain.remit import Remit
from ferryman.egress import tls
from ferryman.egress.gate import Gate
from ferryman.local.log import KeptLog

HOST, ADDRESS, ROUNDS = "api.bench.test", ip_address("25.0.0.1"), 300
BODY = {"note": "x" * 900, "items": list(range(20))}


class Loopback:
    """Names and dialer for the one host of the bench."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def resolve(self, _: str) -> list:
        return [ADDRESS]

    async def dial(self, _address, _port, *, timeout_s):
        return await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", self.port, timeout=timeout_s)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0)
    await reader.readexactly(length)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1024\r\nconnection: close\r\n\r\n" + b"y" * 1024)
    await writer.drain()
    writer.close()


def credentials() -> dict[str, Credential]:
    made = {}
    for number in range(10):
        name = f"KEY_{number}"
        label = Label(owner="o", task="t", name=name, version=1, service="s", auth_type=AuthType.BEARER, hosts=(HOST,))
        made[name] = Credential(label=label, secret=Secret(f"sk-{number}" + "abcdefghijklmnopqrstuvwxyz0123456789"[number:]))
    return made


async def timed(call) -> list[float]:
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - started) * 1000)
    return taken[ROUNDS // 10 :]


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        served.load_cert_chain(authority.issue(HOST))
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=served)
        port = server.sockets[0].getsockname()[1]
        trust = tls.context(authority.path)
        internet = Loopback(port)
        gate = Gate(names=internet, dial=internet, tls=trust, tracer=KeptLog())
        keys = credentials()
        remit = Remit(owner="o", task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
        outbound = Outbound(tool="api_call", method=Method.POST, url=f"https://{HOST}/v1", body=BODY, credential="KEY_0")

        async def through() -> None:
            result = await gate.send(outbound, remit=remit, credentials=keys)
            assert result.response_status == 200, result.content

        plain_trust = ssl.create_default_context(cafile=str(authority.path))
        plain_trust.check_hostname = False

        async def plain() -> None:
            async with httpx.AsyncClient(verify=plain_trust, trust_env=False) as client:
                await client.post(f"https://127.0.0.1:{port}/v1", json=BODY, headers={"Host": HOST})

        gated, bare = await timed(through), await timed(plain)
        server.close()
    print(f"{'':24}{'p50 ms':>8}{'p95 ms':>8}")
    for name, taken in (("plain httpx", bare), ("through the gate", gated)):
        print(f"{name:24}{statistics.median(taken):8.2f}{sorted(taken)[int(len(taken) * 0.95)]:8.2f}")
    print(f"ratio of medians{statistics.median(gated) / statistics.median(bare):16.2f}")


if __name__ == "__main__":
    asyncio.run(main())
