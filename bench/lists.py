"""`python -m bench.lists`: a page of a list with 5,000 documents in the store, over the same page with 10.

The stores of the API ask the local Firestore, with the deployed indexes. Both are in this process, whose processor time
counts: the client's and the store's together. Pages of the two stores take turns, so that other load affects both alike.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc

from bench import Row, show
from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.page import Page
from ferryman.domain.tasks.task import TASKS_PER_OWNER_MAX, Task
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.gcp import documents
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.execution_documents import write_execution
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.ports.executions import Filter
from ferryman.settings import Settings

INDEXES = Path(__file__).parents[1] / "infra/firestore.indexes.json"
FEW, MANY = 10, 5_000
PAGE, ROUNDS = 10, 60
BAR = 1.2
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
TEXT = "x" * 2_000
BATCH = 200
"""Documents in one commit."""


class ReadCounter(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """A Firestore that counts the documents, and their bytes, which its queries answer."""

    def __init__(self, inner: grpc.GenericRpcHandler) -> None:
        self._inner = inner
        self.counts: Counter[str] = Counter()

    def service(self, details: Any) -> Any:
        handler = self._inner.service(details)
        if handler is None or not details.method.endswith("/RunQuery"):
            return handler

        async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
            async for answer in handler.unary_stream(request, context):
                self.counts += Counter(documents=int(bool(answer.document.name)), bytes=answer.document.ByteSize())
                yield answer

        return handler._replace(unary_stream=stream)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledStore:
    """The lists of a store with so many tasks and executions, and the counter of what is read of them."""

    tasks: FirestoreTasks
    executions: FirestoreExecutions
    reads: Counter[str] = field(repr=False)


@asynccontextmanager
async def open_store(count: int, *, text: str = TEXT) -> AsyncIterator[FilledStore]:
    """Yield a store with `count` tasks of several owners and as many executions of one, each with texts like `text`."""
    firestore = FirestoreEmulator(path=None, indexes=INDEXES)
    await firestore.start()
    counter, server = ReadCounter(firestore.handler()), grpc.aio.server(options=SERVER_OPTIONS)
    server.add_generic_rpc_handlers((counter,))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    clients = GoogleClients(Settings(project="bench", firestore_host=address))
    try:
        await fill(clients, count, text)
        yield FilledStore(tasks=FirestoreTasks(clients), executions=FirestoreExecutions(clients), reads=counter.counts)
    finally:
        await clients.close()
        await server.stop(0)
        await firestore.close()


async def fill(clients: GoogleClients, count: int, text: str) -> None:
    """Store `count` tasks and executions. The last owner has the most tasks, and is the one of all executions."""
    client = clients.firestore()
    written: list[tuple[Any, dict[str, Any]]] = []
    for number in range(count):
        at = BEGAN + timedelta(seconds=number)
        rank = (count - 1 - number) // TASKS_PER_OWNER_MAX
        common: dict[str, Any] = {"created_at": at, "updated_at": at, "model": "scripted/hello", "task_prompt": text}
        task = Task(id=f"task_{number:05}", owner=f"owner_{rank}", name="n", system_prompt=text, **common)
        execution = Execution(id=f"exec_{number:05}", task=task.id, owner="owner_0", created_at=at, input=text, output=text)
        written.append((client.collection("tasks").document(task.id), documents.write(task)))
        written.append((client.collection("executions").document(execution.id), write_execution(execution)))
    for begin in range(0, len(written), BATCH):
        batch = client.batch()
        for reference, document in written[begin : begin + BATCH]:
            batch.set(reference, document)
        await batch.commit()


LISTS: dict[str, Callable[[FilledStore], Awaitable[Page[Any]]]] = {
    "tasks": lambda store: store.tasks.list(derive_default_workspace("owner_0"), most=PAGE),
    "executions": lambda store: store.executions.list(derive_default_workspace("owner_0"), most=PAGE),
    "executions in one status": lambda store: store.executions.list(
        derive_default_workspace("owner_0"), which=Filter(status=Status.QUEUED, since=BEGAN), most=PAGE
    ),
}


async def measure_ms(read: Callable[[FilledStore], Awaitable[Page[Any]]], store: FilledStore) -> float:
    """Return the milliseconds of processor time that a page takes."""
    began = time.process_time()
    await read(store)
    return (time.process_time() - began) * 1_000


async def measure() -> list[Row]:
    """Return a row for each list, and one for what a page reads."""
    rows = []
    async with open_store(FEW) as small, open_store(MANY) as large:
        for name, read in LISTS.items():
            for store in (small, large):
                await measure_ms(read, store)  # what is made once
            pairs = [(await measure_ms(read, small), await measure_ms(read, large)) for _ in range(ROUNDS)]
            ratio = statistics.median(there / here for here, there in pairs)
            few, many = (statistics.median(times) for times in zip(*pairs, strict=True))
            measured = f"{ratio:.2f}x ({few:.1f} and {many:.1f} ms)"
            rows.append(Row(f"a page of {name} with {MANY:,} in the store over {FEW}", f"<= {BAR}x", measured, ratio <= BAR))
        large.reads.clear()
        await LISTS["executions"](large)
        read_count, size = large.reads["documents"], large.reads["bytes"]
        measured = f"{read_count} documents of {size / read_count:,.0f} bytes"
        rows.append(Row(f"what a page of {PAGE} executions reads", f"{PAGE + 1} documents", measured, read_count == PAGE + 1))
    return rows


def rows() -> Iterator[Row]:
    """Measure, and yield the rows of the table."""
    yield from asyncio.run(measure())


if __name__ == "__main__":
    sys.exit(show(rows()))
