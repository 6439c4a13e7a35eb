"""The start of a function: from the process's start to its first answer, to the first answer of use, and its memory.

Run with `python -m bench.starts [--pairs 9]`. Each function is served by the bare functions-framework, as the platform does it,
beside a local stack, and so are two others: an asynchronous function that returns a text, and one that checks a token and reads
a document with Google's libraries, which is the least that a call of ours can be. They take turns in one process tree, with
compiled bytecode. The first answer is the API's health, and of the others the refusal of a call without a token, before which
nothing of the library need be loaded. The first answer of use is that to a call with a token, sent right after it, for which
the function asks the stack. Processor time is that of the process and its worker; memory their proportional set size (Linux).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import Row, show
from bench.beside import start_function
from tests.imports.table import FirstCall, prepare
from tests.stack import start_stack

ROOT = Path(__file__).resolve().parents[1]
EMPTY = """import functions_framework.aio


@functions_framework.aio.http
async def main(request):
    return "hello"
"""
LEAST = """import asyncio
import os

import functions_framework.aio
from starlette.responses import Response

PARTS = []


def load():
    import httpx
    from google.auth import jwt
    from google.cloud.firestore import AsyncClient
    from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient


def build():
    import httpx
    from google.auth import jwt
    from google.auth.credentials import AnonymousCredentials
    from google.cloud.firestore import AsyncClient
    from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient

    from ferryman.gcp.channels import connect_client  # the stack asks for its token

    token = open(os.environ["LOCAL_CLOUD_TOKEN_FILE"]).read().strip()
    client = AsyncClient(project=os.environ["GOOGLE_CLOUD_PROJECT"], credentials=AnonymousCredentials())
    client._firestore_api_internal = connect_client(FirestoreAsyncClient, os.environ["FIRESTORE_EMULATOR_HOST"], token)
    PARTS.extend((httpx.AsyncClient(verify=False), client, jwt))


@functions_framework.aio.http
async def main(request):
    if "authorization" not in request.headers:
        return Response(status_code=401)
    if not PARTS:
        await asyncio.to_thread(load)
        build()
    http, documents, jwt = PARTS
    certificates = (await http.get(os.environ["FERRYMAN_CERTS_URL"])).json()
    jwt.decode(request.headers["authorization"].partition(" ")[2], certs=certificates)
    await documents.document("executions/none").get()
    return Response(status_code=409)
"""
BARS = {"api_call": 1.3, "orchestrator": 1.4, "api": 1.4}
MEMORY_BAR = 1.3
PAIRS = 9


@dataclass(frozen=True, slots=True)
class Start:
    """What the start of one function took, until its first answer and until the first of use: seconds by the clock and of
    processor time; and MiB at the first answer."""

    answered_s: float
    cpu_s: float
    memory_mib: float
    called_s: float
    called_cpu_s: float


def measure(source: Path, first: FirstCall) -> Start:
    """Start a function, ask it, call it, and end it."""
    with start_function(source, first.env) as function:
        function.ask("/healthz")
        answered, cpu = function.clock_s, function.cpu_s
        memory = sum(map(read_memory, list_family(function.process)))
        called = function.clock_s
        status = function.send(first.call)
        called = answered + function.clock_s - called
        assert source.name == "empty.py" or status == first.status, f"{source} answered {status}"
        return Start(answered, cpu, memory, called, function.cpu_s)


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
    """Measure each function beside the two others."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="starts-") as folder:
        others = Path(folder) / "empty.py", Path(folder) / "least.py"
        for file, text in zip(others, (EMPTY, LEAST), strict=True):
            file.write_text(text)
        with start_stack(Path(folder) / "data") as stack:
            for function, bar in BARS.items():
                first = asyncio.run(prepare(stack, function))
                plain = asyncio.run(prepare(stack, "api_call"))
                sources = [(ROOT / "functions" / function / "main.py", first), *((file, plain) for file in others)]
                for file, call in sources:
                    measure(file, call)  # the first of all compiles
                yield from compare(function, bar, [[measure(*source) for source in sources] for _ in range(pairs)])


def compare(function: str, bar: float, measured: list[list[Start]]) -> Iterator[Row]:
    """Yield the rows of one function from its starts, each beside one of an empty function and one of the least."""

    def ratio(read: Callable[[Start], float], other: int) -> float:
        return statistics.median(read(starts[0]) / read(starts[other]) for starts in measured)

    answered, memory = ratio(lambda start: start.answered_s, 1), ratio(lambda start: start.memory_mib, 1)
    yield Row(
        f"first answer of {function} over an empty function's",
        f"<= {bar:g}x",
        f"{answered:.2f}x",
        answered <= bar,
        f"processor time {ratio(lambda start: start.cpu_s, 1):.2f}x",
    )
    called, spent = ratio(lambda start: start.called_s, 2), ratio(lambda start: start.called_cpu_s, 2)
    empty = statistics.median(starts[0].called_s / starts[1].answered_s for starts in measured)
    floor = statistics.median(starts[2].called_s / starts[1].answered_s for starts in measured)
    yield Row(
        f"first answer of use of {function} over that of a function that checks a token and reads a document",
        f"<= {bar:g}x",
        f"{called:.2f}x",
        called <= bar,
        f"processor time {spent:.2f}x; over an empty function's first answer {empty:.1f}x, and that other's {floor:.1f}x",
    )
    mib = statistics.median(starts[0].memory_mib for starts in measured)
    yield Row(
        f"memory of {function} at its first answer",
        f"<= {MEMORY_BAR:g}x",
        f"{memory:.2f}x",
        memory <= MEMORY_BAR,
        f"{mib:.0f} MiB",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    sys.exit(show(rows(parser.parse_args().pairs)))
