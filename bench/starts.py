"""The start of a function: from the process's start to its first answer, and its memory then, beside an empty function.

Run with `python -m bench.starts [--pairs 9]`. Each function is served by the bare functions-framework, as the platform does it,
and so is an asynchronous function that returns a text; they take turns in one process tree, with compiled bytecode. The first
answer is the API's health, and of the others the refusal of a call without a token, before which nothing of the library need be
loaded. The note tells how long it takes until a call that shows a token is answered, which waits for all of it, with
nobody behind the function. Processor time is that of the process and its worker; memory their proportional set size (Linux).
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import Row, show
from bench.cpu import measure_tree
from ferryman.vault import seal, sign

ROOT = Path(__file__).resolve().parents[1]
HELLO = """import functions_framework.aio


@functions_framework.aio.http
async def main(request):
    return "hello"
"""
BARS = {"api_call": 1.3, "orchestrator": 1.4, "api": 1.4}
MEMORY_BAR = 1.3
ANSWERS_S = 60.0
PAIRS = 9


@dataclass(frozen=True, slots=True)
class Start:
    """What the start of one function took: seconds by the clock and of processor time, and MiB; and of its first whole call."""

    answered_s: float
    cpu_s: float
    memory_mib: float
    called_s: float


def build_environment(function: str, port: int) -> dict[str, str]:
    """Return the variables of a deployed function that it needs to be built, with public keys made for this alone."""
    public = base64.b64encode(seal.derive_public_key(seal.generate_private_key())).decode()
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "PYTHONPATH": str(ROOT / "lib"),
        "PORT": str(port),
        "HOST": "127.0.0.1",
        "FUNCTION_TARGET": "main",
        "CLOUD_RUN_TIMEOUT_SECONDS": "60",
        "FERRYMAN_FUNCTION": function,
        "GOOGLE_CLOUD_PROJECT": "bench",
        "FERRYMAN_SEALING_PUBLIC_KEY": f"1:{public}",
        "FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps({"1": sign.derive_public_key(sign.generate_private_key()).hex()}),
        "FERRYMAN_FUNCTION_URLS": json.dumps({function: "https://bench.example"}),
        "FERRYMAN_CALLERS": "[]",
        # nobody is there: a call ends where it would connect
        **dict.fromkeys(
            ("FIRESTORE_EMULATOR_HOST", "SECRET_MANAGER_EMULATOR_HOST", "CLOUD_TASKS_EMULATOR_HOST"), "127.0.0.1:9"
        ),
        "GCE_METADATA_HOST": "127.0.0.1:9",
        "FERRYMAN_CERTS_URL": "http://127.0.0.1:9/certs",
    }


def measure(source: Path, function: str, port: int) -> Start:
    """Start a function, ask it, and end it."""
    path = "/healthz" if function == "api" else "/"
    command = [sys.executable, "-P", "-m", "functions_framework", "--source", str(source)]
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=build_environment(function, port), cwd=source.parent, stdout=subprocess.DEVNULL, start_new_session=True
    ) as child:
        try:
            ask(port, path, began)
            answered = time.perf_counter() - began
            cpu, memory = measure_tree(child.pid), sum(map(read_memory, list_family(child.pid)))
            again = time.perf_counter()
            ask(port, "/v1/me" if function == "api" else path, again, {"Authorization": "Bearer none"})
            return Start(answered, cpu, memory, answered + time.perf_counter() - again)
        finally:
            os.killpg(child.pid, signal.SIGKILL)


def ask(port: int, path: str, began: float, headers: dict[str, str] | None = None) -> int:
    """Return the status of the first answer, trying until there is one. Raise `TimeoutError`."""
    while time.perf_counter() - began < ANSWERS_S:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS_S)
        try:
            connection.request("GET", path, headers=headers or {})
            return connection.getresponse().status
        except OSError:
            time.sleep(0.002)
        finally:
            connection.close()
    raise TimeoutError(f"no answer within {ANSWERS_S:g} s")


def list_family(process: int) -> Iterator[int]:
    """Yield a process and those that it started."""
    yield process
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        yield from list_family(int(child))


def read_memory(process: int) -> float:
    """Return the proportional set size of a process, in MiB."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def rows(pairs: int = PAIRS) -> Iterator[Row]:
    """Measure each function beside the empty one."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="starts-") as folder:
        hello = Path(folder) / "main.py"
        hello.write_text(HELLO)
        for number, (function, bar) in enumerate(BARS.items()):
            port, source = 18_400 + os.getpid() % 1000 * 3 + number, ROOT / "functions" / function / "main.py"
            for file in (hello, source):
                measure(file, function, port)  # the first of all compiles
            measured = [(measure(source, function, port), measure(hello, function, port)) for _ in range(pairs)]
            ratio = statistics.median(ours.answered_s / other.answered_s for ours, other in measured)
            spent = statistics.median(ours.cpu_s / other.cpu_s for ours, other in measured)
            memory = statistics.median(ours.memory_mib / other.memory_mib for ours, other in measured)
            medians = [
                statistics.median(values)
                for values in zip(*((s.memory_mib, s.called_s / h.answered_s) for s, h in measured), strict=True)
            ]
            yield Row(
                f"first answer of {function} over an empty function's",
                f"<= {bar:g}x",
                f"{ratio:.2f}x",
                ratio <= bar,
                f"processor time {spent:.2f}x; with all of it loaded and refused, {medians[1]:.1f}x",
            )
            yield Row(
                f"memory of {function} then",
                f"<= {MEMORY_BAR:g}x",
                f"{memory:.2f}x",
                memory <= MEMORY_BAR,
                f"{medians[0]:.0f} MiB",
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    sys.exit(show(rows(parser.parse_args().pairs)))
