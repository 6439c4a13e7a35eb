"""What it costs a call that strangers' texts are read safely, and not wherever they arrive (bar: 1 ms for an ordinary call).

    python -m bench.workers [ROUNDS]

One call after the other to a local TLS server, with ten credentials: the arguments are parsed, the request is checked and sent,
and its response rendered. An ordinary call has 1 KB both ways, and its texts are checked on the event loop, within a number of
steps; a long one has 4 KB, which worker processes read. Each alternates with the same call with no bound and no worker; the
difference is the median of the differences of neighbours. For figures that mean something, nothing else should run.
"""

from __future__ import annotations

import asyncio
import itertools
import pickle
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.gate import BODY, HOST, Loopback, answer, make_credentials
from emulator.internet.authority import Authority
from ferryman import offload
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.plan import PRO
from ferryman.egress import on_loop
from ferryman.egress.gate import EgressGate
from ferryman.egress.tls import create_context
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import CallPolicy
from ferryman.tools.arguments import parse_builtin
from ferryman.tools.http import PARSERS

BAR_MS = 1.0
WARM_UP = 20
BODIES = {"ordinary": BODY, "long": {**BODY, "note": "word " * 800}}
SAFE, BARE = "as it is", "with no bound"


async def run_here(_owner: str, _budget: offload.Budget, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Run a job on the event loop: what workers save others from."""
    values = [pickle.loads(pickle.dumps(value)) if _is_packed(value) else value for value in arguments]
    return function(*values, **named)


def _is_packed(value: object) -> bool:
    return type(value).__module__ == offload.wire.__name__


def never(*_values: object) -> bool:
    """Find no text small, so that no bound of steps applies to it."""
    return False


async def measure(rounds: int) -> dict[tuple[str, str], list[float]]:
    """Return the milliseconds of each call, by its body and by how its texts were read."""
    ways = {SAFE: (offload.run, on_loop.is_small), BARE: (run_here, never)}
    durations: dict[tuple[str, str], list[float]] = {(body, way): [] for body in BODIES for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        served.load_cert_chain(authority.issue(HOST))
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=served)
        internet = Loopback(server.sockets[0].getsockname()[1])
        gate = EgressGate(names=internet, dial=internet, tls=create_context(authority.path), tracer=RecordingLog())
        execution = ExecutionPolicy(owner="o", task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
        policy = CallPolicy(execution=execution, credentials=make_credentials())
        for number, body, way in itertools.product(range(WARM_UP + rounds), BODIES, ways):
            offload.run, on_loop.is_small = ways[way]
            arguments = {"method": "POST", "url": f"https://{HOST}/v1", "body": BODIES[body], "credential": "KEY_0"}
            started = time.perf_counter()
            outbound = await parse_builtin("o", "api_call", PARSERS["api_call"], arguments)
            result = await gate.send(outbound, policy)
            assert result.response_status == 200, result.content
            if number >= WARM_UP:
                durations[body, way].append((time.perf_counter() - started) * 1000)
        server.close()
    return durations


def main() -> int:
    """Print the calls, and what safety adds to each; return 1 where that is above the bar for an ordinary one."""
    durations = asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
    print(f"{'call':10}{'texts read':16}{'p50 ms':>8}{'p95 ms':>8}")
    for (body, way), values in durations.items():
        print(f"{body:10}{way:16}{statistics.median(values):8.2f}{sorted(values)[int(len(values) * 0.95)]:8.2f}")
    added = {
        body: statistics.median(safe - bare for safe, bare in zip(durations[body, SAFE], durations[body, BARE], strict=True))
        for body in BODIES
    }
    ordinary, long = added["ordinary"], added["long"]
    print(f"safety adds {ordinary:.2f} ms to an ordinary call (bar {BAR_MS:g} ms), {long:.2f} ms to a long one")
    return int(ordinary > BAR_MS)


if __name__ == "__main__":
    raise SystemExit(main())
