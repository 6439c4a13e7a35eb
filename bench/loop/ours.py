"""Our loop, whole: policy, journal, audit, receipts, money, sealed arguments, and ten credentials that replies are scanned for.

Its stores are in memory, or, where FIRESTORE_EMULATOR_HOST is set, in that Firestore. A tool is another process, whose answer
the loop gets settled: here it is answered at once.
"""

from __future__ import annotations

import itertools
import os
import random
import string
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from ferryman import catalog, settings
from ferryman.billing.prices import Prices
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.credentials.credential import AuthType, Credential, Label, SealedCredential, Secret
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.operator_model import parse_operator_models
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks.task import Task
from ferryman.egress import checking
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.contexts import FirestoreContexts
from ferryman.gcp.conversations import FirestoreConversations
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.jobs import FirestoreJobs
from ferryman.gcp.log import JsonLog
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts, MemoryOwners
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.models.anthropic import AnthropicModel
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.registry import ToolRegistry
from ferryman.vault import sign
from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.seal import PublicKey, build_call_info, derive_public_key, generate_private_key

MODEL = "bench"
CREDENTIALS = 10
LIMITS = {"calls_per_execution": 10**6, "calls_per_minute": 10**6, "iterations": 10**6, "executions_running": 10**6}
MILLIONS = Decimal(10**9)
PLAN = replace(PRO, name="bench", executions_queued=10**6, credits_per_month=MILLIONS, **LIMITS)
NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Loop:
    """The dependencies of the loop for the model at one URL, and the task that is run with them."""

    deps: LoopDependencies
    task: Task


def build_credentials() -> list[Credential]:
    """Return ten credentials of the task."""
    letters = random.Random(1)
    built = []
    for number in range(CREDENTIALS):
        label = Label(
            owner="o",
            task="t",
            name=f"KEY_{number}",
            version=1,
            service="coingecko",
            auth_type=AuthType.BEARER,
            hosts=("api.bench.test",),
        )
        value = "sk-live-" + "".join(letters.choices(string.ascii_letters + string.digits, k=40))
        built.append(Credential(label=label, secret=Secret(value)))
    return built


class KeyHolder:
    """`ports.ReplyScanner`: what a key holder does with a reply, in this process and its workers, so that it is counted."""

    def __init__(self) -> None:
        self._credentials = build_credentials()

    async def scan(self, execution: Execution, content: Any) -> Any:
        return await checking.scan_output(execution.owner, self._credentials, content)


def build_stores(clients: GoogleClients | None, memory: Memory) -> dict[str, Any]:
    """Return the stores, by the name of the loop's dependency."""
    plans = {PLAN.name: PLAN}
    if clients is None:
        return {
            "owners": MemoryOwners(memory),
            "tasks": MemoryTasks(memory),
            "credentials": MemoryCredentials(memory),
            "contexts": MemoryContexts(memory),
            "jobs": MemoryJobs(memory),
            "clusters": MemoryClusters(memory),
            "conversations": MemoryConversations(memory),
            "executions": MemoryExecutions(memory, plans),
            "approvals": MemoryApprovals(memory),
            "halts": MemoryHalts(memory),
        }
    return {
        "owners": FirestoreOwners(clients),
        "tasks": FirestoreTasks(clients),
        "credentials": FirestoreCredentials(clients),
        "contexts": FirestoreContexts(clients),
        "jobs": FirestoreJobs(clients),
        "clusters": FirestoreClusters(clients),
        "conversations": FirestoreConversations(clients),
        "executions": FirestoreExecutions(clients, plans=plans),
        "approvals": FirestoreApprovals(clients),
        "halts": FirestoreHalts(clients),
    }


@cache
def build_loop(url: str, size: int) -> Loop:
    """Build the loop on the model at `url`, with a tool that answers `size` bytes."""
    row = {"url": url, "input": 3, "output": 15}
    configured = replace(settings.read({}), models=parse_operator_models({MODEL: row}))
    host = os.environ.get("FIRESTORE_EMULATOR_HOST")
    clients = GoogleClients(replace(configured, project="bench", firestore_host=host)) if host else None
    keys, public = MemoryKeyStore({1: sign.generate_private_key()}), PublicKey(1, derive_public_key(generate_private_key()))
    clock = SystemClock()

    async def answer(ticket: Ticket, *, execution: Execution) -> Ticket:  # noqa: ARG001 - the handler's own signature
        now = clock.now()
        result = ToolCallResult(
            tool=ticket.tool,
            content=f"{ticket.display_arguments['url']} ".ljust(size, "x"),
            url=str(ticket.display_arguments["url"]),
            method="GET",
            response_status=200,
            response_size_bytes=size,
            latency_ms=1.0,
        )
        return replace(ticket, state=TicketState.SETTLED, attempt=1, sent_at=now, deadline=now, settled_at=now, result=result)

    deps = LoopDependencies(
        **build_stores(clients, Memory()),
        decisions=PublishedKeys({}),
        queue=MemoryQueue(),
        alerts=MemoryAlertQueue(),
        metering=MemoryUsageQueue(),
        model=AnthropicModel(configured),
        scanner=KeyHolder(),
        registry=ToolRegistry(answer),
        signing=sign.ReceiptSigning(keys, {1: sign.derive_public_key(keys.privates[1])}),
        clock=clock,
        tracer=OtelTracer(JsonLog(), configured),
        seal=lambda execution, seq, arguments: public.seal(arguments, build_call_info(execution, seq)),
        price=Prices({MODEL: {"input": "3", "output": "15"}}).find,
        plans={PLAN.name: PLAN},
        integrations=catalog.load(),
        lease=timedelta(minutes=2),
        slice=timedelta(minutes=29),
        execution_timeout=timedelta(hours=6),
    )
    now = clock.now()
    task = Task(
        id=f"t{next(NUMBERS)}",
        owner="o",
        name="bench",
        task_prompt="Read the pages, one after the other, and report.",
        model=MODEL,
        tools=("http_get", "api_call"),
        integrations=("coingecko",),
        max_iterations=10**6,
        max_credits=PRO.credits_per_execution,
        max_tokens=1024,
        created_at=now,
        updated_at=now,
    )
    return Loop(deps, task)


READY: set[str] = set()


async def prepare(loop: Loop) -> None:
    """Store the owner and the task with its credentials, once."""
    if loop.task.id in READY:
        return
    READY.add(loop.task.id)
    deps, now = loop.deps, loop.task.created_at
    await deps.owners.put(Owner(id="o", plan=PLAN.name, created_at=now))
    await deps.tasks.create(loop.task)
    for credential in build_credentials():
        label = replace(credential.label, task=loop.task.id)
        sealed = SealedCredential(label=label, ciphertext=b"sealed", key_version=1, created_at=now, updated_at=now)
        await deps.credentials.put(sealed)


async def run(url: str, rounds: int, size: int) -> None:
    await run_loop(build_loop(url, size), rounds)


async def run_loop(loop: Loop, rounds: int) -> None:
    """Run an execution of so many calls to its end."""
    await prepare(loop)
    deps, name = loop.deps, f"exec-{os.getpid()}-{next(NUMBERS)}"
    await deps.executions.start(Execution(id=name, task=loop.task.id, owner="o", created_at=deps.clock.now()), most=10**6)
    assert await deliver(deps, name, slice=0, holder="bench")
    ended = await deps.executions.get(name)
    assert ended is not None
    assert (ended.status, ended.tool_calls_total) == (Status.COMPLETED, rounds), ended.error
