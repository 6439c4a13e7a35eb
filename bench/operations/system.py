"""The measured system: the composition roots on a local cloud in this process, which counts the requests of each function.

The loop, the API, the trigger's queue, the tool function with its vault and its gate are those of a deployment, behind Google's
clients. Two things are not: the model is scripted, and functions call each other in the process, counted as requests.
"""

from __future__ import annotations

import io
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx

from bench.operations import services
from bench.operations.bucket import BUCKET
from bench.operations.counting import WRITES, Counts
from bench.operations.model import CREDENTIAL, CountingModel
from bench.operations.services import API, INDEXES, OPERATOR, ORCHESTRATOR, TOOL, TRIGGER, WEBHOOK
from bench.operations.storage import StoredDocuments
from ferryman.alerts.dispatch import AlertDependencies
from ferryman.composition import api
from ferryman.composition.orchestrator import OrchestratorFunction
from ferryman.composition.tool import ToolFunction
from ferryman.composition.trigger import TriggerFunction
from ferryman.composition.webhook import WebhookFunction
from ferryman.domain.calls.call import Ticket
from ferryman.domain.credits.alert import Alert
from ferryman.domain.delivery import AlertState
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.gcp import documents as stored_documents
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.owners import FirestoreOwners
from ferryman.loop.dependencies import LoopDependencies as Loop
from ferryman.loop.run import deliver
from ferryman.metering.roll_up import MeteringDependencies
from ferryman.ports.tickets import CallRequest
from ferryman.schedules.fire import ScheduleDependencies as Schedules
from ferryman.serving import api as api_app
from ferryman.serving import keys
from ferryman.settings import Settings
from ferryman.stack import provision
from ferryman.tools.alerting.send import SendingDependencies, send_alert
from ferryman.tools.execute_call import ToolDependencies, execute_call, scan_output
from ferryman.tools.registry import ToolRegistry

INVOKED = "requests to the function"
LOGGED = "bytes logged"
LINES = "lines logged"
STORED = "bytes stored"
STREAMED = "bytes streamed"
ALL = "all"
"""In place of a function: counted for all of them together."""
OWNER = "owner"
WORKSPACE = derive_default_workspace(OWNER)
NEVER = timedelta(hours=1)
"""Longer than any run here: what depends on time is counted apart, so that a slow machine counts the same."""

TASK = {
    "name": "bench",
    "task_prompt": "Go.",
    "model": "scripted/bench",
    "tools": ["api_call"],
    "integrations": ["github"],
    "max_iterations": 50,
    "max_credits": "2500",
}


class CountedOutput(io.StringIO):
    """Standard output of all functions, of which only the length is counted."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def write(self, text: str) -> int:
        self._counts[ALL, LOGGED] += len(text.encode())
        self._counts[ALL, LINES] += text.count("\n")
        return len(text)


@dataclass(frozen=True, kw_only=True)
class CountedSystem:
    """All parts of it; `client` calls the API as the task's owner, and `operator_store` is not counted."""

    counts: Counts
    documents: StoredDocuments
    loop: Loop
    schedules: Schedules
    alerts: AlertDependencies
    metering: MeteringDependencies
    trigger: TriggerFunction
    tool: ToolDependencies
    deps: api.ApiDependencies
    operator_store: FirestoreExecutions
    client: httpx.AsyncClient
    task: str
    settings: Settings
    closing: AsyncExitStack
    """Closes what is opened beside."""

    def snapshot(self, execution: str) -> Counts:
        """Return the counts so far, with the bytes of the execution's documents and their index entries."""
        return +Counter({**self.counts, (ALL, STORED): self.documents.count_bytes(execution)})

    async def schedule_task(self) -> None:
        """Create a task with a schedule."""
        answer = await self.client.post("/v1/tasks", json={**TASK, "schedule": {"type": "cron", "cron": "0 0 1 1 *"}})
        assert answer.status_code == 201, answer.text

    async def limit_conversations(self) -> None:
        """Give each conversation a limit of credits."""
        path = f"/v1/workspaces/{derive_default_workspace(OWNER)}"
        answer = await self.client.patch(path, json={"conversation_credits_max": "9000"})
        assert answer.is_success, answer.text

    async def store_settled_alert(self) -> str:
        """Store an alert of the owner's plan that was delivered; return its id."""
        now = datetime.now(UTC)
        about = {"kind": CapKind.OWNER, "subject": OWNER, "percent": 80, "month": f"{now:%Y-%m}", "execution": "e"}
        amounts = {"limit": Decimal(100), "credits_used": Decimal(81), "credits_reserved": Decimal(0)}
        alert = Alert(id="alert", owner=OWNER, workspace="", state=AlertState.DELIVERED, created_at=now, **about, **amounts)
        await self.operator_store._client.document("alerts", alert.id).create(stored_documents.write(alert))
        return alert.id

    async def start_execution(self, conversation: str | None = None) -> str:
        """Start an execution over the API, and send the event of its document; return its id."""
        body = None if conversation is None else {"conversation": conversation}
        answer = await self.client.post(f"/v1/tasks/{self.task}/executions", json=body)
        assert answer.is_success, answer.text
        self.counts[API, INVOKED] += 1
        execution = str(answer.json()["execution_id"])
        await self.trigger.queue.enqueue(execution, slice=0)
        self.counts[TRIGGER, INVOKED] += 1
        self.trigger.tracer.line("execution.enqueued", execution=execution)
        return execution

    async def request_execution(self) -> str:
        """Ask for an execution as an application does, by a document, and send its event; return its id."""
        name = f"order-{uuid.uuid4().hex[:24]}"  # as long as an id of ours
        await self.operator_store._client.document("executions", name).create({"task": self.task})
        self.counts[ALL, WRITES] += 1
        await self.trigger.queue.enqueue(name, slice=0)
        self.counts[TRIGGER, INVOKED] += 1
        self.trigger.tracer.line("execution.enqueued", execution=name)
        return name

    async def deliver(self, execution: str, model: CountingModel) -> int:
        """Run every slice of it with this model; return how many there were."""
        loop = replace(self.loop, model=model)
        for number in range(10):
            self.counts[ORCHESTRATOR, INVOKED] += 1
            assert await deliver(loop, execution, slice=number, holder="bench")
            record = await self.operator_store.get(execution)
            assert record is not None
            if record.status.terminal:
                assert (record.error, record.tool_calls_total) == (None, model.turns * model.calls), record.error
                return number + 1
        raise AssertionError("it does not end")


@dataclass(frozen=True, slots=True)
class LocalSender:
    """The function that sends alerts, in the same process; what it is asked for is counted."""

    deps: SendingDependencies
    counts: Counts

    async def send(self, alert: str) -> int | None:
        """Have it sent, unless it is settled."""
        self.counts[WEBHOOK, INVOKED] += 1
        after = await send_alert(self.deps, alert)
        return after.attempts if after is not None and after.state is AlertState.PENDING else None


@asynccontextmanager
async def run_system(answer_bytes: int = 0) -> AsyncIterator[CountedSystem]:
    """Run the system with one owner, one task and one credential; its upstream answers with `answer_bytes` bytes."""
    counts: Counts = Counter()
    async with AsyncExitStack() as closing:
        internet = await services.run_internet(closing, answer_bytes)
        documents = StoredDocuments(INDEXES)
        addresses = await services.serve_functions(closing, counts, documents)
        project = f"p-{uuid.uuid4().hex[:12]}"
        operator_settings = Settings(project=project, **services.list_hosts(addresses[OPERATOR]))
        operator = GoogleClients(operator_settings)
        closing.push_async_callback(operator.close)
        await services.create_queues(operator, project)
        sealing = await provision.provision_sealing_key(operator, project, operator_settings.sealing_key_secret)
        receipts = await provision.provision_receipt_keys(operator, project, operator_settings.receipt_key_secret)
        decisions = await provision.provision_decision_keys(operator, project, operator_settings.api_key_secret)

        def settings(function: str) -> Settings:
            return Settings(
                project=project,
                function=function,
                sealing_public_key=sealing,
                receipt_public_keys=receipts,
                decision_public_keys=decisions,
                queue_caller=f"queue@{project}.iam.gserviceaccount.com",
                function_urls={ORCHESTRATOR: "http://127.0.0.1:9"},
                simulated_internet=internet.table,
                prices={"scripted": {"input": "3", "output": "15"}},
                objects_bucket=BUCKET,
                **services.list_hosts(addresses[function]),
            )

        closing.enter_context(redirect_stdout(CountedOutput(counts)))
        deps, orchestrator = api.build_api(settings(API)), OrchestratorFunction(settings(ORCHESTRATOR))
        trigger, tool = TriggerFunction(settings(TRIGGER)), ToolFunction(settings(TOOL))
        webhook = WebhookFunction(settings(WEBHOOK))
        for port in (deps.halts, orchestrator.loop.halts, tool.dependencies.halts, webhook.dependencies.halts):
            closing.push_async_callback(port._clients.close)
        closing.push_async_callback(trigger.queue._clients.close)
        for function in (tool, webhook):
            closing.push_async_callback(function.dependencies.gate.idle.aclose)
        tool_dependencies = replace(tool.dependencies, poll_interval=NEVER)
        key = keys.generate_key()
        await FirestoreOwners(operator).put(Owner(id=OWNER, plan="pro", created_at=datetime.now(UTC)))
        await FirestoreOwners(operator).add_key(keys.digest_key(key), OWNER, datetime.now(UTC))
        transport = httpx.ASGITransport(app=api_app.create(deps))
        client = httpx.AsyncClient(transport=transport, base_url="http://api.test", headers={"Authorization": f"Bearer {key}"})
        await closing.enter_async_context(client)
        yield CountedSystem(
            counts=counts,
            documents=documents,
            loop=_replace_parts(orchestrator.loop, tool_dependencies, counts),
            schedules=orchestrator.schedules,
            metering=orchestrator.metering,
            alerts=replace(orchestrator.alerts, sender=LocalSender(webhook.alerts, counts)),
            trigger=trigger,
            tool=tool_dependencies,
            deps=deps,
            operator_store=FirestoreExecutions(operator),
            client=client,
            task=await create_task(client, TASK),
            settings=settings(ORCHESTRATOR),
            closing=closing,
        )


def _replace_parts(loop: Loop, tool: ToolDependencies, counts: Counts) -> Loop:
    """Return the orchestrator's dependencies, with the tool function in the same process and without the limits of a plan."""

    async def execute(ticket: Ticket, *, execution: Execution) -> Ticket:
        counts[TOOL, INVOKED] += 1
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        return await execute_call(tool, ticket.tool, call_request)

    class Scanner:
        async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
            counts[TOOL, INVOKED] += 1
            return await scan_output(tool, execution=execution.id, task=execution.task, epoch=execution.epoch, content=content)

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


async def create_task(client: httpx.AsyncClient, fields: Mapping[str, Any]) -> str:
    """Create a task with a credential; return its id."""
    stored = await client.post("/v1/tasks", json=fields)
    assert stored.status_code == 201, stored.text
    task = str(stored.json()["task_id"])
    await store_credential(client, task)
    return task


async def store_credential(client: httpx.AsyncClient, task: str) -> None:
    """Store the task's credential."""
    value = {"value": "ghp_" + uuid.uuid4().hex, "service": "github"}
    answer = await client.put(f"/v1/tasks/{task}/credentials/{CREDENTIAL}", json=value)
    assert answer.is_success, answer.text
