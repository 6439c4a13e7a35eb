"""The doors: each port twice, in memory and on Google's clients with the local cloud behind them, under one suite."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ferryman import ports
from ferryman.local.clusters import MemoryClusters
from ferryman.local.connections import MemoryConnections
from ferryman.local.executions import MemoryExecutions
from ferryman.local.halts import MemoryHalts
from ferryman.local.ledger import MemoryLedger
from ferryman.local.memory import Memory
from ferryman.local.owners import MemoryOwners
from ferryman.local.queue import MemoryQueue, MemoryTimers
from ferryman.local.schedules import MemorySchedules
from ferryman.local.tasks import MemoryCredentials, MemoryTasks
from ferryman.local.tickets import MemoryTickets
from ferryman.local.tokens import MemoryTokens
from ferryman.settings import Settings

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"
Waiting = Callable[[], Awaitable[Sequence[tuple[str, int, float]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The ports of one empty house; `waiting` answers what the queue holds: execution, slice, seconds until it is due.

    `set_timers` answers of each timer whose it is, a task's or the sweep's, and when it is due.
    """

    owners: ports.Owners
    tasks: ports.Tasks
    credentials: ports.Credentials
    connections: ports.Connections
    clusters: ports.Clusters
    executions: ports.Executions
    tickets: ports.Tickets
    tokens: ports.Tokens
    ledger: ports.Ledger
    halts: ports.Halts
    queue: ports.Queue
    waiting: Waiting
    schedules: ports.Schedules
    timers: ports.Timers
    set_timers: Callable[[], Awaitable[Sequence[tuple[str, datetime]]]]


@asynccontextmanager
async def in_memory() -> AsyncIterator[Doors]:
    memory, queue, timers = Memory(), MemoryQueue(), MemoryTimers()

    async def set_timers() -> Sequence[tuple[str, datetime]]:
        return [(each.fire.task if each.fire else "sweep", each.due) for each in timers.waiting]

    async def waiting() -> Sequence[tuple[str, int, float]]:
        return [(each.execution, each.slice, each.after.total_seconds()) for each in queue.waiting]

    yield Doors(
        owners=MemoryOwners(memory),
        tasks=MemoryTasks(memory),
        credentials=MemoryCredentials(memory),
        connections=MemoryConnections(memory),
        clusters=MemoryClusters(memory),
        executions=MemoryExecutions(memory),
        tickets=MemoryTickets(memory),
        tokens=MemoryTokens(memory),
        ledger=MemoryLedger(memory),
        halts=MemoryHalts(memory),
        queue=queue,
        waiting=waiting,
        schedules=MemorySchedules(memory),
        timers=timers,
        set_timers=set_timers,
    )


@asynccontextmanager
async def on_google_cloud() -> AsyncIterator[Doors]:
    import grpc

    from emulator.clock import Clock
    from emulator.firestore import SERVER_OPTIONS, Firestore
    from emulator.identity import Tokens
    from emulator.tasks import CloudTasks
    from ferryman.gcp.clients import Clients
    from ferryman.gcp.clusters import FirestoreClusters
    from ferryman.gcp.connections import FirestoreConnections
    from ferryman.gcp.executions import FirestoreExecutions
    from ferryman.gcp.halts import FirestoreHalts
    from ferryman.gcp.ledger import FirestoreLedger
    from ferryman.gcp.owners import FirestoreOwners
    from ferryman.gcp.queue import CloudTasksQueue, CloudTasksTimers
    from ferryman.gcp.schedules import FirestoreSchedules
    from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
    from ferryman.gcp.tickets import FirestoreTickets
    from ferryman.gcp.tokens import FirestoreTokens

    firestore = Firestore(path=None, indexes=INDEXES)
    cloud_tasks = CloudTasks(path=None, clock=Clock(), tokens=Tokens(path=None, clock=Clock()))
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(), cloud_tasks.handler()))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await cloud_tasks.start()
    await server.start()
    settings = Settings(
        project=f"p-{uuid.uuid4().hex[:12]}",
        firestore_host=address,
        cloud_tasks_host=address,
        queue_caller="queue@local.iam.gserviceaccount.com",
        function_urls={"orchestrator": "http://127.0.0.1:9/"},
    )
    clients = Clients(settings)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FIRESTORE_EMULATOR_HOST", address)  # which the client reads while it is made
        clients.firestore()
    parent = f"projects/{settings.project}/locations/{settings.location}"
    name, schedules = (f"{parent}/queues/{each}" for each in (settings.queue, settings.schedules_queue))
    for each in (name, schedules):
        await clients.tasks().create_queue(request={"parent": parent, "queue": {"name": each}})
        await clients.tasks().pause_queue(request={"name": each})  # what is enqueued stays to be looked at

    async def waiting() -> Sequence[tuple[str, int, float]]:
        held = [each async for each in await clients.tasks().list_tasks(request={"parent": name})]
        told = []
        for each in held:
            execution, _, number = each.name.rpartition("/")[2].rpartition("-")
            due: Any = each.schedule_time  # a datetime, where the wrapper's stub names the message
            told.append((execution, int(number), max(0.0, (due - datetime.now(UTC)).total_seconds())))
        return told

    async def set_timers() -> Sequence[tuple[str, datetime]]:
        held = [each async for each in await clients.tasks().list_tasks(request={"parent": schedules})]
        named: list[tuple[str, Any]] = [(each.name.rpartition("/")[2], each.schedule_time) for each in held]
        return [(name.partition("-")[0], due) for name, due in named]

    try:
        yield Doors(
            owners=FirestoreOwners(clients),
            tasks=FirestoreTasks(clients),
            credentials=FirestoreCredentials(clients),
            connections=FirestoreConnections(clients),
            clusters=FirestoreClusters(clients),
            executions=FirestoreExecutions(clients),
            tickets=FirestoreTickets(clients),
            tokens=FirestoreTokens(clients),
            ledger=FirestoreLedger(clients),
            halts=FirestoreHalts(clients),
            queue=CloudTasksQueue(clients, settings),
            waiting=waiting,
            schedules=FirestoreSchedules(clients),
            timers=CloudTasksTimers(clients, settings),
            set_timers=set_timers,
        )
    finally:
        await clients.close()
        await server.stop(0)
        await cloud_tasks.close()
        await firestore.close()
        await asyncio.sleep(0)  # lets the closed channels' own tasks end inside this loop


KINDS = {"local": in_memory, "gcp": on_google_cloud}


@pytest.fixture(params=KINDS)
async def doors(request: pytest.FixtureRequest) -> AsyncIterator[Doors]:
    async with KINDS[request.param]() as doors:
        yield doors
