"""The stage: the product's own roots on a local cloud in this process, which counts what each function asks of it.

The loop, the API, the trigger's queue, the tool's side with its vault and its gate are what a deployment runs, behind Google's
clients. Two things are not: the model is played, and a function calls another in the process, which is counted as a request.
"""

from __future__ import annotations

import io
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import httpx

from bench.operations import services
from bench.operations.counting import Counts
from bench.operations.played import CREDENTIAL, Played
from bench.operations.services import API, INDEXES, OPERATOR, ORCHESTRATOR, TOOL, TRIGGER
from bench.operations.stored import Shelf
from ferryman.composition import api
from ferryman.composition.orchestrator import OrchestratorFunction
from ferryman.composition.tool import ToolFunction
from ferryman.composition.trigger import TriggerFunction
from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.owners import FirestoreOwners
from ferryman.loop.dependencies import LoopDependencies as Loop
from ferryman.loop.run import deliver
from ferryman.ports.tickets import CallRequest
from ferryman.schedules.dependencies import ScheduleDependencies as Schedules
from ferryman.serving import api as served
from ferryman.serving import keys
from ferryman.settings import Settings
from ferryman.stack import provision
from ferryman.tools.execute_call import ToolDependencies, execute_call, scan_output
from ferryman.tools.registry import ToolRegistry

INVOKED = "requests to the function"
LOGGED = "bytes logged"
LINES = "lines logged"
STORED = "bytes stored"
STREAMED = "bytes streamed"
NEVER = timedelta(hours=1)
"""Longer than any run here: what goes by the clock is counted apart, so that a slow machine counts the same."""

TASK = {
    "name": "bench",
    "task_prompt": "Go.",
    "model": "scripted/bench",
    "tools": ["api_call"],
    "integrations": ["github"],
    "max_iterations": 50,
    "max_credits": "2500",
}


class Heard(io.StringIO):
    """Standard output of every function, of which only the length is kept."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def write(self, text: str) -> int:
        self._counts["house", LOGGED] += len(text.encode())
        self._counts["house", LINES] += text.count("\n")
        return len(text)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Everything on it; `asks` asks the API as the task's owner, and who `looks` is not counted."""

    counts: Counts
    shelf: Shelf
    loop: Loop
    schedules: Schedules
    trigger: TriggerFunction
    tool: ToolDependencies
    deps: api.ApiDependencies
    looks: FirestoreExecutions
    asks: httpx.AsyncClient
    task: str

    def snapshot(self, execution: str) -> Counts:
        """Return the counts so far, with the bytes that the execution's documents and their index entries take."""
        return +Counter({**self.counts, ("house", STORED): self.shelf.bytes_of(execution)})

    async def scheduled(self) -> None:
        """Let a task wait for a time."""
        answer = await self.asks.post("/v1/tasks", json={**TASK, "schedule": {"type": "cron", "cron": "0 0 1 1 *"}})
        assert answer.status_code == 201, answer.text

    async def started(self) -> str:
        """Return an execution that was started over the API, and its document's event; its name."""
        answer = await self.asks.post(f"/v1/tasks/{self.task}/executions")
        self.counts[API, INVOKED] += 1
        execution = str(answer.json()["execution_id"])
        await self.trigger.queue.enqueue(execution, slice=0)
        self.counts[TRIGGER, INVOKED] += 1
        self.trigger.tracer.line("execution.enqueued", execution=execution)
        return execution

    async def delivered(self, execution: str, played: Played) -> int:
        """Return every slice of it, played by this model; how many there were."""
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
        internet = await services.internet(closing, answer_bytes)
        shelf = Shelf(INDEXES)
        addresses = await services.served(closing, counts, shelf)
        project = f"p-{uuid.uuid4().hex[:12]}"
        known = Settings(project=project, **services.at(addresses[OPERATOR]))
        operator = GoogleClients(known)
        closing.push_async_callback(operator.close)
        await services.queues(operator, project)
        sealing = await provision.provision_sealing_key(operator, project, known.sealing_key_secret)
        receipts = await provision.provision_receipt_keys(operator, project, known.receipt_key_secret)

        def settings(function: str) -> Settings:
            return Settings(
                project=project,
                function=function,
                sealing_public_key=sealing,
                receipt_public_keys=receipts,
                queue_caller=f"queue@{project}.iam.gserviceaccount.com",
                function_urls={ORCHESTRATOR: "http://127.0.0.1:9"},
                simulated_internet=internet.table,
                prices={"scripted": {"input": "3", "output": "15"}},
                **services.at(addresses[function]),
            )

        closing.enter_context(redirect_stdout(Heard(counts)))
        deps, orchestrator = api.build_api(settings(API)), OrchestratorFunction(settings(ORCHESTRATOR))
        trigger, tool = TriggerFunction(settings(TRIGGER)), ToolFunction(settings(TOOL))
        for port in (deps.halts, orchestrator.loop.halts, tool.dependencies.halts):
            closing.push_async_callback(port._clients.close)
        closing.push_async_callback(trigger.queue._clients.close)
        carrying = replace(tool.dependencies, poll_interval=NEVER)
        key = keys.generate_key()
        await FirestoreOwners(operator).put(Owner(id="owner", plan="pro", created_at=datetime.now(UTC)))
        await FirestoreOwners(operator).add_key(keys.digest_key(key), "owner", datetime.now(UTC))
        transport = httpx.ASGITransport(app=served.create(deps))
        asks = httpx.AsyncClient(transport=transport, base_url="http://api.test", headers={"Authorization": f"Bearer {key}"})
        await closing.enter_async_context(asks)
        yield Stage(
            counts=counts,
            shelf=shelf,
            loop=_loop(orchestrator.loop, carrying, counts),
            schedules=orchestrator.schedules,
            trigger=trigger,
            tool=carrying,
            deps=deps,
            looks=FirestoreExecutions(operator),
            asks=asks,
            task=await _task(asks),
        )


def _loop(loop: Loop, tool: ToolDependencies, counts: Counts) -> Loop:
    """Return the orchestrator's, with the tool's function in the same process and no limit of a plan in its way."""

    async def execute(ticket: Ticket, *, execution: Execution) -> Ticket:
        counts[TOOL, INVOKED] += 1
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        return await execute_call(tool, ticket.tool, call_request)

    class Scanner:
        async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
            counts[TOOL, INVOKED] += 1
            return await scan_output(tool, execution=execution.id, epoch=execution.epoch, content=content)

    return replace(
        loop,
        scanner=Scanner(),
        registry=ToolRegistry(execute),
        plans={"pro": replace(PRO, calls_per_execution=10_000, calls_per_minute=10_000, iterations=1_000)},
        lease=NEVER,
        slice=NEVER,
        execution_timeout=NEVER,
        poll_interval=NEVER,
    )


async def _task(asks: httpx.AsyncClient) -> str:
    stored = await asks.post("/v1/tasks", json=TASK)
    assert stored.status_code == 201, stored.text
    task = str(stored.json()["task_id"])
    value = {"value": "ghp_" + uuid.uuid4().hex, "service": "github"}
    answer = await asks.put(f"/v1/tasks/{task}/credentials/{CREDENTIAL}", json=value)
    assert answer.is_success, answer.text
    return task
