"""The stage: the product's own roots on a local cloud in this process, which counts what each function asks of it.

The loop, the API, the trigger's queue, the tool's side with its vault and its gate are what a deployment runs, behind Google's
clients. Two things are not: the model is played, and a function calls another in the process, which is counted as a request.
"""

from __future__ import annotations

import io
import os
import tempfile
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import httpx

from bench.operations.counting import Counting, Counts
from bench.operations.stored import Shelf
from emulator.clock import Clock
from emulator.firestore import SERVER_OPTIONS, Firestore
from emulator.identity import Tokens
from emulator.internet import Internet
from emulator.internet.routes import read_route
from emulator.secrets import SecretManager
from emulator.tasks import CloudTasks
from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.message import Block, Prompt, Reply
from ferryman.domain.owner import Owner
from ferryman.domain.plan import PRO
from ferryman.domain.usage import Usage
from ferryman.gcp.clients import Clients
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.owners import FirestoreOwners
from ferryman.loop.house import House as Loop
from ferryman.loop.run import deliver
from ferryman.ports import Crossing, Summons, Unavailable
from ferryman.schedules.house import House as Schedules
from ferryman.serving import api as served
from ferryman.serving import keys
from ferryman.settings import Settings
from ferryman.tools.carry import ToolHouse, carry, look_through
from ferryman.tools.registry import ToolRegistry
from ferryman.wiring import api
from ferryman.wiring.local import provision
from ferryman.wiring.local.environment import LOCATION
from ferryman.wiring.orchestrator import Orchestrator
from ferryman.wiring.tool import Tool
from ferryman.wiring.trigger import Trigger

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"
API, ORCHESTRATOR, TRIGGER, TOOL = "api", "orchestrator", "on_execution", "api_call"
FUNCTIONS = (API, ORCHESTRATOR, TRIGGER, TOOL)
OPERATOR = "operator"
INVOKED = "requests to the function"
LOGGED = "bytes logged"
LINES = "lines logged"
STORED = "bytes stored"
STREAMED = "bytes streamed"
NEVER = timedelta(hours=1)
"""Longer than any run here: what goes by the clock is counted apart, so that a slow machine counts the same."""

HOST = "api.github.com"
CREDENTIAL = "GITHUB_TOKEN"
TASK = {
    "name": "bench",
    "task_prompt": "Go.",
    "model": "scripted/bench",
    "tools": ["api_call"],
    "integrations": ["github"],
    "max_iterations": 50,
    "max_credits": "2500",
}

Meanwhile = Callable[[], Awaitable[None]]


class Heard(io.StringIO):
    """Standard output of every function, of which only the length is kept."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def write(self, text: str) -> int:
        self._counts["house", LOGGED] += len(text.encode())
        self._counts["house", LINES] += text.count("\n")
        return len(text)


@dataclass
class Played:
    """A model that asks for the same number of calls each turn and then answers; it notes the counts when it is asked.

    When it is asked for turn `at` it is busy once, where nothing is to be done `meanwhile`, and does that where something is.
    """

    turns: int
    calls: int
    snapshot: Callable[[], Counts]
    at: int | None = None
    meanwhile: Meanwhile | None = None

    def __post_init__(self) -> None:
        self.at_turn: list[Counts] = []

    async def reply(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - it says the same whatever it is told
        turn = len(self.at_turn)
        if turn == self.at:
            self.at = None
            if self.meanwhile is None:
                raise Unavailable("busy", after_s=1)
            await self.meanwhile()
        self.at_turn.append(self.snapshot())
        asked = range(self.calls) if turn < self.turns else ()
        content: list[Block] = [
            {
                "type": "tool_use",
                "id": f"toolu_{turn:03}_{n}",
                "name": "api_call",
                "input": {"method": "GET", "url": f"https://{HOST}/x?turn={turn:03}&n={n}", "credential": CREDENTIAL},
            }
            for n in asked
        ]
        return Reply(
            content=content or [{"type": "text", "text": "Done."}],
            stop_reason="tool_use" if content else "end_turn",
            usage=Usage(input_tokens=9),
        )


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Everything on it; `asks` asks the API as the task's owner, and who `looks` is not counted."""

    counts: Counts
    shelf: Shelf
    loop: Loop
    schedules: Schedules
    trigger: Trigger
    tool: ToolHouse
    house: api.House
    looks: FirestoreExecutions
    asks: httpx.AsyncClient
    task: str

    def snapshot(self, execution: str) -> Counts:
        """The counts so far, with the bytes that the execution's documents and their index entries take."""
        return +Counter({**self.counts, ("house", STORED): self.shelf.bytes_of(execution)})

    async def scheduled(self) -> None:
        """Let a task wait for a time."""
        answer = await self.asks.post("/v1/tasks", json={**TASK, "schedule": {"type": "cron", "cron": "0 0 1 1 *"}})
        assert answer.status_code == 201, answer.text

    async def started(self) -> str:
        """An execution that was started over the API, and its document's event; its name."""
        answer = await self.asks.post(f"/v1/tasks/{self.task}/executions")
        self.counts[API, INVOKED] += 1
        execution = str(answer.json()["execution_id"])
        await self.trigger.queue.enqueue(execution, slice=0)
        self.counts[TRIGGER, INVOKED] += 1
        self.trigger.tracer.line("execution.enqueued", execution=execution)
        return execution

    async def delivered(self, execution: str, played: Played) -> int:
        """Every slice of it, played by this model; how many there were."""
        loop = replace(self.loop, model=played)
        for slice in range(10):
            self.counts[ORCHESTRATOR, INVOKED] += 1
            assert await deliver(loop, execution, slice=slice, holder="bench")
            record = await self.looks.get(execution)
            assert record is not None
            if record.status.terminal:
                assert (record.error, record.tool_calls_total) == (None, played.turns * played.calls), record.error
                return slice + 1
        raise AssertionError("it does not end")


@asynccontextmanager
async def stage(answer_bytes: int = 0) -> AsyncIterator[Stage]:
    """A house with one owner, one task and one credential, whose upstream answers with so many bytes."""
    counts: Counts = Counter()
    async with AsyncExitStack() as closing:
        internet = await _internet(closing, answer_bytes)
        shelf = Shelf(INDEXES)
        addresses = await _served(closing, counts, shelf)
        project = f"p-{uuid.uuid4().hex[:12]}"
        known = Settings(project=project, **_at(addresses[OPERATOR]))
        operator = Clients(known)
        _bound(closing, operator, addresses[OPERATOR])
        await _queues(operator, project)
        sealing = await provision.sealing_key(operator, project, known.sealing_key_secret)
        receipts = await provision.receipt_keys(operator, project, known.receipt_key_secret)

        def settings(function: str) -> Settings:
            return Settings(
                project=project,
                function=function,
                sealing_public_key=sealing,
                receipt_public_keys=receipts,
                queue_caller=f"queue@{project}.iam.gserviceaccount.com",
                function_urls={ORCHESTRATOR: "http://127.0.0.1:9"},
                pretend_internet=internet.table,
                prices={"scripted": {"input": "3", "output": "15"}},
                **_at(addresses[function]),
            )

        closing.enter_context(redirect_stdout(Heard(counts)))
        house, orchestrator = api.build(settings(API)), Orchestrator(settings(ORCHESTRATOR))
        trigger, tool = Trigger(settings(TRIGGER)), Tool(settings(TOOL))
        for function, port in ((API, house.halts), (ORCHESTRATOR, orchestrator.loop.halts), (TOOL, tool.carrying.halts)):
            _bound(closing, port._clients, addresses[function])  # as a process has them that knows one address alone
        closing.push_async_callback(trigger.queue._clients.close)
        carrying = replace(tool.carrying, looks=NEVER)
        key = keys.new_key()
        await FirestoreOwners(operator).put(Owner(id="owner", plan="pro", created_at=datetime.now(UTC)))
        await FirestoreOwners(operator).add_key(keys.digest(key), "owner", datetime.now(UTC))
        transport = httpx.ASGITransport(app=served.create(house))
        asks = httpx.AsyncClient(transport=transport, base_url="http://api.test", headers={"Authorization": f"Bearer {key}"})
        await closing.enter_async_context(asks)
        yield Stage(
            counts=counts,
            shelf=shelf,
            loop=_loop(orchestrator.loop, carrying, counts),
            schedules=orchestrator.schedules,
            trigger=trigger,
            tool=carrying,
            house=house,
            looks=FirestoreExecutions(operator),
            asks=asks,
            task=await _task(asks),
        )


def _loop(loop: Loop, tool: ToolHouse, counts: Counts) -> Loop:
    """The orchestrator's, with the tool's function in the same process and no limit of a plan in its way."""

    async def handler(call: ToolCall, crossing: Crossing) -> ToolCallResult:
        held = crossing.execution
        counts[TOOL, INVOKED] += 1
        summons = Summons(execution=held.id, seq=crossing.ticket.seq, epoch=held.epoch, task=held.task, owner=held.owner)
        result = await carry(tool, call.name, summons)
        crossing.carried = True
        return result

    class Scanner:
        async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
            counts[TOOL, INVOKED] += 1
            return await look_through(tool, execution=execution.id, epoch=execution.epoch, content=content)

    return replace(
        loop,
        scanner=Scanner(),
        registry=ToolRegistry(handler),
        plans={"pro": replace(PRO, calls_per_execution=10_000, calls_per_minute=10_000, iterations=1_000)},
        lease=NEVER,
        slice=NEVER,
        patience=NEVER,
        looks=NEVER,
    )


async def _task(asks: httpx.AsyncClient) -> str:
    stored = await asks.post("/v1/tasks", json=TASK)
    assert stored.status_code == 201, stored.text
    task = str(stored.json()["task_id"])
    value = {"value": "ghp_" + uuid.uuid4().hex, "service": "github"}
    answer = await asks.put(f"/v1/tasks/{task}/credentials/{CREDENTIAL}", json=value)
    assert answer.is_success, answer.text
    return task


async def _internet(closing: AsyncExitStack, answer_bytes: int) -> Internet:
    folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="bench-operations-")))
    internet = Internet(folder, clock=Clock())
    internet.can(HOST, [read_route({"method": "*", "path": "/x", "body": "x" * answer_bytes}, "route")])
    await internet.start()
    closing.push_async_callback(internet.close)
    return internet


async def _served(closing: AsyncExitStack, counts: Counts, shelf: Shelf) -> Mapping[str, str]:
    """The services on a port for each function, by which it is counted, and on one for the operator, which is not."""
    clock = Clock()
    firestore, secrets = Firestore(path=None, indexes=INDEXES), SecretManager(path=None, clock=clock)
    tasks = CloudTasks(path=None, clock=clock, tokens=Tokens(path=None, clock=clock))
    firestore.watch(shelf.changed)
    for service in (firestore, secrets, tasks):
        await service.start()
        closing.push_async_callback(service.close)
    handlers = (firestore.handler(), secrets.handler(), tasks.handler())
    addresses = {}
    for name in (*FUNCTIONS, OPERATOR):
        server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
        server.add_generic_rpc_handlers(handlers if name == OPERATOR else (Counting(name, handlers, counts),))
        addresses[name] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        closing.push_async_callback(server.stop, 0)
    return addresses


async def _queues(operator: Clients, project: str) -> None:
    await provision.queues(operator, project)
    async for queue in await operator.tasks().list_queues(request={"parent": f"projects/{project}/locations/{LOCATION}"}):
        await operator.tasks().pause_queue(request={"name": queue.name})  # the stage delivers


def _at(address: str) -> dict[str, str]:
    return {"firestore_host": address, "secret_manager_host": address, "cloud_tasks_host": address}


def _bound(closing: AsyncExitStack, clients: Clients, address: str) -> None:
    """Firestore's client reads its address from the environment, while it is made."""
    os.environ["FIRESTORE_EMULATOR_HOST"] = address
    clients.firestore()
    del os.environ["FIRESTORE_EMULATOR_HOST"]
    closing.push_async_callback(clients.close)
