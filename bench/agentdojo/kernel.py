"""The kernel's own loop with stores in memory and the tools of a suite, for one execution: nothing in it is the bench's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.agentdojo.approver import Approver
from bench.agentdojo.deciding import VERIFIER, DecidingStores
from bench.agentdojo.suites import Suite, SuiteProcess
from ferryman.billing.prices import Prices
from ferryman.catalog.tools import DECLARED
from ferryman.domain.approvals.rules import ApprovalRule, ConfirmationMode
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks.task import Task
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts, MemoryOwners
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.ports.model import Model
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.registry import ToolRegistry
from ferryman.vault import sign

PLAN = replace(PRO, calls_per_execution=10**6, calls_per_minute=10**6, iterations=10**6)
START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
OWNER = Owner(id="o", plan=PLAN.name, created_at=START)
KEYS = MemoryKeyStore({1: sign.generate_private_key()})
FAILED = "request_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFunction:
    """The function that has the tools of a suite. They answer with JSON, or with the text that AgentDojo's models read."""

    process: SuiteProcess
    is_json: bool = True

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:  # noqa: ARG002 - the port's own signature
        """Call a tool (`ports.keyless.AskFunction`)."""
        answer = self.process.call(body["tool"], body["arguments"])
        if answer["error"]:
            return KeylessAnswer(str(answer["error"]), code=FAILED)
        if self.is_json and isinstance(answer["value"], dict | list):
            return KeylessAnswer(json.dumps(answer["value"], ensure_ascii=False))
        return KeylessAnswer(answer["text"])


class NoSecrets:
    """`ports.ReplyScanner`, where the task has no credential."""

    async def scan(self, execution: Any, content: Any) -> Any:  # noqa: ARG002 - the port's own signature
        return content

    async def scan_window(self, execution: Any, texts: Any) -> Any:  # noqa: ARG002 - the port's own signature
        raise AssertionError("nobody watches")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What an execution has come to: its answer, and its calls."""

    answer: str
    tickets: tuple[Ticket, ...]


def register_tools(suite: Suite, calls: KeylessCalls) -> ToolRegistry:
    """Return a registry of the tools of a suite, as local functions that the operator has registered."""
    registry = ToolRegistry(calls.execute, offered=())
    for tool in suite.tools:
        built = replace(DECLARED, name=tool.name, description=tool.description, schema=tool.schema, kind="local_function")
        registry.register(built, calls.execute)
    return registry


async def execute_task(
    prompt: str, suite: Suite, function: SuiteFunction, model: Model, person: Approver, *, has_policy: bool = True
) -> Outline:
    """Run one execution of a task with this prompt to its end. Where a call waits, the person decides and it goes on.

    The task has no rule; without the flow policy, it has one that switches that off.
    """
    memory, clock, queue = Memory(), ManualClock(), MemoryQueue()
    deciding = DecidingStores.build(memory, queue, clock)
    approving = ApprovingDependencies(approvals=MemoryApprovals(memory), verifier=VERIFIER, clock=clock)
    calls = KeylessCalls(tickets=MemoryTickets(memory), scanner=NoSecrets(), clock=clock, ask=function.ask, approving=approving)
    deps = LoopDependencies(
        owners=MemoryOwners(memory),
        tasks=MemoryTasks(memory),
        credentials=MemoryCredentials(memory),
        contexts=MemoryContexts(memory),
        clusters=MemoryClusters(memory),
        conversations=MemoryConversations(memory),
        executions=MemoryExecutions(memory, {PLAN.name: PLAN}),
        approvals=MemoryApprovals(memory),
        decisions=VERIFIER,
        jobs=MemoryJobs(memory),
        halts=MemoryHalts(memory),
        queue=queue,
        alerts=MemoryAlertQueue(),
        metering=MemoryUsageQueue(),
        model=model,
        scanner=NoSecrets(),
        registry=register_tools(suite, calls),
        signing=sign.ReceiptSigning(KEYS, {1: sign.derive_public_key(KEYS.privates[1])}),
        clock=clock,
        tracer=RecordingLog(),
        seal=lambda execution, seq, arguments: arguments,  # noqa: ARG005 - nothing is secret here
        price=Prices({"scripted": {"input": "0", "output": "0"}}).find,
        plans={PLAN.name: PLAN},
        integrations={},
        lease=timedelta(minutes=2),
        slice=timedelta(minutes=29),
        execution_timeout=timedelta(hours=6),
    )
    memory.owners["o"] = OWNER
    memory.tasks["t"] = Task(
        id="t",
        owner="o",
        name="agentdojo",
        task_prompt=prompt,
        model="scripted/agentdojo",
        tools=tuple(tool.name for tool in suite.tools),
        approvals=() if has_policy else (ApprovalRule(mode=ConfirmationMode.NEVER),),
        max_iterations=1_000,
        created_at=START,
        updated_at=START,
    )
    memory.executions["e"] = Execution(id="e", task="t", owner="o", created_at=START)
    await queue.enqueue("e", slice=0)
    while not memory.executions["e"].status.terminal:
        delivery = queue.take()
        if delivery is None:
            raise RuntimeError("the execution waits, and nothing wakes it")
        await deliver(deps, "e", slice=delivery.slice, holder="bench", waits=delivery.waits)
        await deciding.decide_all(person, OWNER, memory.executions["e"].workspace)
    ended = memory.executions["e"]
    if ended.status is not Status.COMPLETED:
        raise RuntimeError(f"the execution ended as {ended.status}: {ended.error}")
    tickets = memory.tickets.get("e", {})
    return Outline(answer=ended.output or "", tickets=tuple(tickets[seq] for seq in sorted(tickets)))
