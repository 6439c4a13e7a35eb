"""`python -m bench.firestore`: operations per second of our emulator and of Google's, side by side.

Rates are the server's: raw calls, 32 in flight, median of five rounds. Ours runs as `python -m emulator` on a folder, so that
every write is on the disk when it is answered; Google's keeps everything in memory.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import grpc
from google.cloud.firestore import AsyncClient
from rich.console import Console
from rich.table import Table

from emulator.firestore.official import find_official, run_official
from emulator.firestore.wire import Document, message

IN_FLIGHT, ROUNDS = 32, 5
PAGE, DOCUMENTS = 20, 10_000
SINGLE_CALLS, SETS, TRANSACTIONS = 300, 2_000, 200
HOT_CLIENTS, HOT_SECONDS = 16, 60.0
TEXT = "x" * 200
FIGURES = {
    "ready, s (median of 5 starts)": "≤ 1.0",
    "idle memory, MiB (RSS)": "≤ 100",
    "set, p50 ms": "≤ 2",
    "get, p50 ms": "≤ 2",
    f"newest {PAGE} of {DOCUMENTS:,}, p50 ms": "≤ 30",
    f"{PAGE} of a tenth of {DOCUMENTS:,}, p50 ms": "≤ 30",
    f"sets/s, {IN_FLIGHT} in flight": "≥ 1,000",
    f"transactions/s on one document, {HOT_CLIENTS} clients": "≥ 150",
    f"sets/s through AsyncClient, {IN_FLIGHT} in flight": "",
}
"""What is measured, and the goal of ours if there is one."""


class Calls:
    """Raw calls on one database of an emulator."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.database = f"projects/{uuid.uuid4().hex}/databases/(default)"
        self._root = f"{self.database}/documents"
        self._channel = channel
        self._commit = self._call("Commit", message("CommitResponse"))
        self._get = self._call("GetDocument", Document)
        self._begin = self._call("BeginTransaction", message("BeginTransactionResponse"))
        self._query = self._call("RunQuery", message("RunQueryResponse"), stream=True)

    def _call(self, name: str, response: Any, *, stream: bool = False) -> Any:
        make = self._channel.unary_stream if stream else self._channel.unary_unary
        return make(
            f"/google.firestore.v1.Firestore/{name}",
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=response.FromString,
        )

    async def set(self, number: int, *, transaction: bytes = b"", count: int | None = None) -> None:
        fields = {
            "n": {"integer_value": number if count is None else count},
            "tenth": {"integer_value": number % 10},
            "text": {"string_value": TEXT},
        }
        write = {"update": {"name": f"{self._root}/c/{number}", "fields": fields}}
        await self._commit(message("CommitRequest")(database=self.database, writes=[write], transaction=transaction))

    async def get(self, number: int, *, transaction: bytes = b"") -> Any:
        request = message("GetDocumentRequest")(name=f"{self._root}/c/{number}")
        if transaction:
            request.transaction = transaction
        return await self._get(request)

    async def read_page(self, tenth: int | None) -> None:
        """Read the page with the highest numbers, of all documents or of one tenth."""
        query: dict[str, Any] = {
            "from_": [{"collection_id": "c"}],
            "order_by": [{"field": {"field_path": "n"}, "direction": 2}],
            "limit": {"value": PAGE},
        }
        if tenth is not None:
            value = {"field": {"field_path": "tenth"}, "op": 5, "value": {"integer_value": tenth}}
            query["where"] = {"field_filter": value}
        responses = self._query(message("RunQueryRequest")(parent=self._root, structured_query=query))
        documents = [response async for response in responses if response.HasField("document")]
        assert len(documents) == PAGE

    async def increment(self, number: int) -> None:
        """Read and write one document in a transaction, with as many attempts as it takes."""
        retried = b""
        for _ in itertools.count():
            options = {"read_write": {"retry_transaction": retried}}
            request = message("BeginTransactionRequest")(database=self.database, options=options)
            retried = token = (await self._begin(request)).transaction
            try:
                count = (await self.get(number, transaction=token)).fields["n"].integer_value
                await self.set(number, transaction=token, count=count + 1)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.ABORTED:
                    raise
            else:
                return


async def measure_rate(call: Callable[[int], Awaitable[object]], total: int, in_flight: int) -> float:
    """Return calls per second; `in_flight` workers share the numbers from 0."""
    numbers, began = iter(range(total)), time.perf_counter()

    async def work() -> None:
        for number in numbers:
            await call(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(work())
    return total / (time.perf_counter() - began)


async def measure_p50_ms(call: Callable[[int], Awaitable[object]], total: int) -> float:
    durations = []
    for number in range(total):
        began = time.perf_counter()
        await call(number)
        durations.append(time.perf_counter() - began)
    return statistics.median(durations) * 1_000


@asynccontextmanager
async def run_ours() -> AsyncIterator[tuple[str, int]]:
    """Run `python -m emulator`, durable, in a folder of its own, without tokens as Google's; yield its address and process."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.json"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "emulator", "--indexes", "none", "--open"),
            *("--data", f"{folder}/data", "--ready-file", str(ready)),
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(60):
                while not ready.exists():  # noqa: ASYNC110 - another process writes it
                    await asyncio.sleep(0.005)
            yield json.loads(ready.read_text())["env"]["FIRESTORE_EMULATOR_HOST"], process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            await process.wait()


def read_resident_mib(group: int) -> float:
    """Return the memory of all processes of a group."""
    pages = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rpartition(")")[2].split()[2]) == group:
                pages += int((status.parent / "statm").read_text().split()[1])
        except (OSError, ValueError):
            continue
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


async def measure_emulator(start: Callable[[], Any], report: Callable[[str], None]) -> dict[str, float]:
    """Return all figures of one emulator."""
    names, durations = iter(FIGURES), list[float]()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        async with start() as (address, group):
            async with grpc.aio.insecure_channel(address) as channel:
                await Calls(channel).set(0)
            durations.append(time.perf_counter() - began)
    figures = {next(names): statistics.median(durations)}
    async with start() as (address, group), grpc.aio.insecure_channel(address) as channel:
        calls = Calls(channel)
        await calls.set(0)
        figures[next(names)] = read_resident_mib(group)
        await measure_rate(calls.set, DOCUMENTS, IN_FLIGHT)
        figures[next(names)] = await measure_p50_ms(calls.set, SINGLE_CALLS)
        figures[next(names)] = await measure_p50_ms(calls.get, SINGLE_CALLS)
        figures[next(names)] = await measure_p50_ms(lambda _: calls.read_page(None), SINGLE_CALLS // 10)
        figures[next(names)] = await measure_p50_ms(lambda number: calls.read_page(number % 10), SINGLE_CALLS // 10)
        figures[next(names)] = statistics.median([await measure_rate(calls.set, SETS, IN_FLIGHT) for _ in range(ROUNDS)])
        figures[next(names)] = await measure_hot_rate(calls, report)
        figures[next(names)] = await measure_client_rate(address)
    return figures


async def measure_client_rate(address: str) -> float:
    """Return sets per second through the client library, whose own work takes most of the time."""
    os.environ["FIRESTORE_EMULATOR_HOST"] = address  # which the client reads while it is made
    client = AsyncClient(project=uuid.uuid4().hex)

    async def put(number: int) -> None:
        await client.document(f"c/{number}").set({"n": number, "tenth": number % 10, "text": TEXT})

    try:
        return statistics.median([await measure_rate(put, SETS, IN_FLIGHT) for _ in range(ROUNDS)])
    finally:
        await client._firestore_api.transport.close()


async def measure_hot_rate(calls: Calls, report: Callable[[str], None]) -> float:
    """Return transactions per second on one document, over a minute at most."""
    done = 0

    async def increment_once(_: int) -> None:
        nonlocal done
        await calls.increment(0)
        done += 1

    try:
        async with asyncio.timeout(HOT_SECONDS):
            return statistics.median([await measure_rate(increment_once, TRANSACTIONS, HOT_CLIENTS) for _ in range(ROUNDS)])
    except TimeoutError:
        report(f"{done} of {ROUNDS * TRANSACTIONS} transactions on one document were done in {HOT_SECONDS:.0f} s")
        return done / HOT_SECONDS


@click.command()
def main() -> None:
    """Measure, print a table, and end with 1 when a goal of ours was missed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    console = Console()
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    results = {"ours, durable": asyncio.run(measure_emulator(run_ours, console.print))}
    if (script := find_official()) is None:
        console.print("Google's Firestore emulator is not installed here, or Java is not.")
    else:
        results["official, in memory"] = asyncio.run(measure_emulator(lambda: run_official(script), console.print))
    table = Table("", *results, "goal")
    missed = []
    for name, goal in FIGURES.items():
        table.add_row(name, *(f"{figures[name]:,.2f}" for figures in results.values()), goal)
        figure, bound = results["ours, durable"][name], float(goal[2:].replace(",", "") or "nan")
        if figure > bound if goal.startswith("≤") else figure < bound:
            missed.append(name)
    console.print(table)
    sys.exit(f"Missed: {'; '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
