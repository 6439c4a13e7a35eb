"""What an execution costs Firestore: requests, documents read and documents written, by call, by turn and at its ends.

Run with `python -m bench.operations`. The loop and the tool's side run on the real clients against the local Firestore, which
does the counting; the model, the keys and the upstream are doubles, since they touch no document.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import grpc

from emulator.firestore import SERVER_OPTIONS, Firestore
from ferryman import catalog
from ferryman.billing.prices import Prices
from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Sealed, Secret
from ferryman.domain.execution import Execution
from ferryman.domain.message import Block, Prompt, Reply
from ferryman.domain.owner import Owner
from ferryman.domain.plan import PRO
from ferryman.domain.task import Task
from ferryman.domain.usage import Usage
from ferryman.gcp.clients import Clients
from ferryman.gcp.connections import FirestoreConnections
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.local.clock import HandClock
from ferryman.local.log import KeptLog
from ferryman.local.queue import MemoryQueue
from ferryman.local.signing import Unsigned
from ferryman.loop.house import House
from ferryman.loop.run import deliver
from ferryman.ports import Crossing, Summons
from ferryman.settings import Settings
from ferryman.tools.carry import ToolHouse, carry, look_through
from ferryman.tools.passage import builtin
from ferryman.tools.registry import ToolRegistry

START = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = ("requests", "transactions", "batch reads", "documents read", "queries", "documents written")
Counts = Counter[str]


class Counting(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """A handler that counts what passes through it."""

    def __init__(self, inner: grpc.GenericRpcHandler) -> None:
        self._inner = inner
        self.counts: Counts = Counter()

    def service(self, details: Any) -> Any:
        handler = self._inner.service(details)
        if handler is None:
            return None
        method = details.method.rpartition("/")[2]
        if handler.unary_unary:

            async def unary(request: Any, context: Any) -> Any:
                self._count(method, request)
                return await handler.unary_unary(request, context)

            return handler._replace(unary_unary=unary)
        if handler.unary_stream:

            async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
                self._count(method, request)
                async for answer in handler.unary_stream(request, context):
                    if method == "RunQuery" and answer.document.name:
                        self.counts["documents read"] += 1
                    yield answer

            return handler._replace(unary_stream=stream)
        return handler

    def _count(self, method: str, request: Any) -> None:
        self.counts["requests"] += 1
        if method == "Commit":
            self.counts["documents written"] += len(request.writes)
            self.counts["transactions"] += bool(request.transaction)
        elif method == "BatchGetDocuments":
            self.counts["batch reads"] += 1
            self.counts["documents read"] += len(request.documents)
        elif method == "RunQuery":
            self.counts["queries"] += 1


@dataclass
class Played:
    """A model that asks for the same number of calls each turn, and notes the counts each time it is asked."""

    turns: int
    calls: int
    counting: Counting
    at_turn: list[Counts] = field(default_factory=list)

    async def reply(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - it says the same whatever it is told
        turn = len(self.at_turn)
        self.at_turn.append(Counter(self.counting.counts))
        asked = range(self.calls) if turn < self.turns else ()
        content = [
            {"type": "tool_use", "id": f"toolu_{n}", "name": "api_call", "input": {"url": f"https://api.github.com/{turn}/{n}"}}
            for n in asked
        ]
        return Reply(
            content=content or [{"type": "text", "text": "Done."}],
            stop_reason="tool_use" if content else "end_turn",
            usage=Usage(input_tokens=9),
        )


class Bank:
    """A vault and a gate that touch nothing."""

    async def credential(self, sealed: Sealed) -> Credential:
        return Credential(label=sealed.label, secret=Secret("x" * 40))

    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:  # noqa: ARG002
        return {"method": "GET", "url": "https://api.github.com/", "credential": "KEY"}

    async def send(self, outbound: Any, **_: Any) -> ToolCallResult:
        return ToolCallResult(outbound.tool, "ok", credential_used="KEY", response_status=200)


@asynccontextmanager
async def counted() -> AsyncIterator[tuple[Clients, Counting]]:
    """Google's clients on a local Firestore that counts."""
    firestore = Firestore(path=None)
    counting = Counting(firestore.handler())
    server = grpc.aio.server(options=SERVER_OPTIONS)
    server.add_generic_rpc_handlers((counting,))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    os.environ["FIRESTORE_EMULATOR_HOST"] = address
    clients = Clients(Settings(project=f"p-{uuid.uuid4().hex[:12]}", firestore_host=address))
    clients.firestore()
    del os.environ["FIRESTORE_EMULATOR_HOST"]
    try:
        yield clients, counting
    finally:
        await clients.close()
        await server.stop(0)
        await firestore.close()


def house(clients: Clients, played: Played) -> House:
    """The loop on real documents, with the tool's side in the same process."""
    clock, log, bank = HandClock(START), KeptLog(), Bank()
    bench = ToolHouse(
        tickets=FirestoreTickets(clients),
        credentials=FirestoreCredentials(clients),
        connections=FirestoreConnections(clients),
        vault=bank,
        gate=bank,
        read=builtin(bank, catalog.load()),
        redact=lambda _, text: text,
        said=lambda _, content: content,
        integrations=catalog.load(),
        halts=FirestoreHalts(clients),
        clock=clock,
        tracer=log,
    )

    async def handler(call: ToolCall, crossing: Crossing) -> ToolCallResult:
        held = crossing.execution
        summons = Summons(execution=held.id, seq=crossing.ticket.seq, epoch=held.epoch, task=held.task, owner=held.owner)
        result = await carry(bench, call.name, summons)
        crossing.carried = True
        return result

    class Scanner:
        async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
            return await look_through(bench, execution=execution.id, epoch=execution.epoch, content=content)

    return House(
        owners=FirestoreOwners(clients),
        tasks=FirestoreTasks(clients),
        credentials=FirestoreCredentials(clients),
        executions=FirestoreExecutions(clients),
        halts=FirestoreHalts(clients),
        queue=MemoryQueue(),
        model=played,
        scanner=Scanner(),
        registry=ToolRegistry(handler),
        signing=Unsigned(),
        clock=clock,
        tracer=log,
        seal=lambda execution, seq, arguments: arguments,  # noqa: ARG005 - nothing is sealed here
        price=Prices({"scripted": {"input": "3", "output": "15"}}).of,
        plans={"pro": replace(PRO, calls_per_execution=10_000, calls_per_minute=10_000, iterations=1_000)},
        integrations=catalog.load(),
        lease=timedelta(hours=1),
        slice=timedelta(hours=1),
        patience=timedelta(hours=1),
    )


@dataclass(frozen=True)
class Measured:
    """What was counted: one turn's own share (late ones beside early ones), one call's, the start's and the end's."""

    early_turn: Counts
    late_turn: Counts
    call: Counts
    start: Counts
    end: Counts


async def measure(turns: int) -> Measured:
    """Two executions of so many turns, with one call a turn and with three; what differs is the calls' share."""
    one, three = await _run(turns, 1), await _run(turns, 3)
    call = _share(one[2], three[2], 2)
    early, late = (_less(one[n] - one[n - 1], call) for n in (2, turns - 1))
    return Measured(early_turn=early, late_turn=late, call=call, start=one[0], end=one[-1] - one[-2])


async def _run(turns: int, calls: int) -> list[Counts]:
    """The counts before each model call, and at the end."""
    async with counted() as (clients, counting):
        await _stored(clients)
        counting.counts.clear()
        played = Played(turns, calls, counting)
        assert await deliver(house(clients, played), "e", slice=0, holder="bench")
        record = await FirestoreExecutions(clients).get("e")
        assert record is not None
        assert (record.error, record.tool_calls_total) == (None, turns * calls), record.error
        return [*played.at_turn, Counter(counting.counts)]


async def _stored(clients: Clients) -> None:
    task = Task(
        id="t",
        owner="o",
        name="bench",
        task_prompt="Go.",
        model="scripted/x",
        tools=("api_call",),
        integrations=("github",),
        max_iterations=1_000,
        max_credits=Decimal(2_500),
        created_at=START,
        updated_at=START,
    )
    await FirestoreOwners(clients).put(Owner(id="o", plan="pro", created_at=START))
    await FirestoreTasks(clients).create(task)
    label = Label(
        owner="o", task="t", name="KEY", version=1, service="github", auth_type=AuthType.BEARER, hosts=("api.github.com",)
    )
    await FirestoreCredentials(clients).put(
        Sealed(label=label, ciphertext=b"", key_version=1, created_at=START, updated_at=START)
    )
    await FirestoreExecutions(clients).create(Execution(id="e", task="t", owner="o", created_at=START))


def _share(few: Counts, many: Counts, by: int) -> Counts:
    return Counter({kind: (many[kind] - few[kind]) // (2 * by) for kind in KINDS})  # of two turns, by `by` calls more in each


def _less(turn: Counts, call: Counts) -> Counts:
    return Counter({kind: turn[kind] - call[kind] for kind in KINDS})


def main() -> None:
    turns = 40
    found = asyncio.run(measure(turns))
    rows = {
        "a call": found.call,
        "turn 3, its calls aside": found.early_turn,
        f"turn {turns}, its calls aside": found.late_turn,
        "the start, to the first model call": found.start,
        "the last turn and the end": found.end,
    }
    print(f"{'':36}" + "".join(f"{kind:>19}" for kind in KINDS))
    for name, counts in rows.items():
        print(f"{name:36}" + "".join(f"{counts[kind]:>19}" for kind in KINDS))


if __name__ == "__main__":
    main()
