"""What it costs a call that its texts are read in worker processes, and not on the event loop (bar: 1 ms).

    python -m bench.workers [ROUNDS]

One call after the other to a local TLS server, 1 KB both ways and ten credentials: the arguments are parsed, the request is
checked, sent, and its response rendered. The same call alternates between worker processes and this process; the difference
is the median of the differences of neighbours. For figures that mean something, nothing else should run.
"""

from __future__ import annotations

import asyncio
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
from ferryman.egress.build import create_context
from ferryman.egress.gate import EgressGate
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import CallPolicy
from ferryman.tools.arguments import parse_builtin
from ferryman.tools.http import PARSERS

BAR_MS = 1.0
WARM_UP = 20
ARGUMENTS = {"method": "POST", "url": f"https://{HOST}/v1", "body": BODY, "credential": "KEY_0"}


async def run_here(_owner: str, _budget: offload.Budget, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Run a job on the event loop: what workers save others from."""
    values = [pickle.loads(pickle.dumps(value)) if _is_packed(value) else value for value in arguments]
    return function(*values, **named)


def _is_packed(value: object) -> bool:
    return type(value).__module__ == offload.wire.__name__


async def measure(rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each call, by where its texts were read."""
    runners = {"in workers": offload.run, "in this process": run_here}
    durations: dict[str, list[float]] = {name: [] for name in runners}
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        served.load_cert_chain(authority.issue(HOST))
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=served)
        internet = Loopback(server.sockets[0].getsockname()[1])
        gate = EgressGate(names=internet, dial=internet, tls=create_context(authority.path), tracer=RecordingLog())
        execution = ExecutionPolicy(owner="o", task="t", plan=PRO, tools=("api_call",), integrations=("s",), domains=(HOST,))
        policy = CallPolicy(execution=execution, credentials=make_credentials())
        for number in range(WARM_UP + rounds):
            for name, runner in runners.items():
                offload.run = runner
                started = time.perf_counter()
                outbound = await parse_builtin("o", "api_call", PARSERS["api_call"], ARGUMENTS)
                result = await gate.send(outbound, policy)
                assert result.response_status == 200, result.content
                if number >= WARM_UP:
                    durations[name].append((time.perf_counter() - started) * 1000)
        server.close()
    return durations


def main() -> int:
    """Print both, and what workers add; return 1 where that is above the bar."""
    durations = asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
    print(f"{'texts read':20}{'p50 ms':>8}{'p95 ms':>8}")
    for name, values in durations.items():
        print(f"{name:20}{statistics.median(values):8.2f}{sorted(values)[int(len(values) * 0.95)]:8.2f}")
    added = statistics.median(worker - here for worker, here in zip(*durations.values(), strict=True))
    print(f"workers add {added:.2f} ms to a call, in two jobs (bar {BAR_MS:g} ms)")
    return int(added > BAR_MS)


if __name__ == "__main__":
    raise SystemExit(main())
