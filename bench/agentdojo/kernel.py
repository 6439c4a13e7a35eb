"""The kernel's own loop with stores in memory and the tools of a suite, for one execution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.agentdojo.guard import FlowGuard
from bench.agentdojo.suites import Suite, SuiteProcess
from ferryman.billing.prices import Prices
from ferryman.catalog.tools import DECLARED
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.tool import Tool
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts, MemoryOwners
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tasks import MemoryCredentials, MemoryTasks
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.ports.model import Model
from ferryman.tools.registry import ToolRegistry
from ferryman.vault import sign

PLAN = replace(PRO, calls_per_execution=10**6, calls_per_minute=10**6, iterations=10**6)
START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
KEYS = MemoryKeyStore({1: sign.generate_private_key()})


class SuiteRegistry(ToolRegistry):
    """The tools of a suite as local functions, whose calls a guard, if there is one, admits after the loop."""

    def __init__(self, suite: Suite, process: SuiteProcess, guard: FlowGuard | None) -> None:
        super().__init__(self._execute, offered=())
        self._process, self._guard = process, guard
        for tool in suite.tools:
            built = replace(DECLARED, name=tool.name, description=tool.description, schema=tool.schema, kind="local_function")
            self.register(replace(built, function="local_tools"), self._execute)

    async def execute(self, ticket: Ticket, *, execution: Execution, admit: Callable[[Tool], None]) -> Any:
        """Execute a call, where the loop and the guard admit it."""
        guard = self._guard
        guarded = admit if guard is None else lambda tool: guard.admit(ticket, admit, tool)
        return await super().execute(ticket, execution=execution, admit=guarded)

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:  # noqa: ARG002 - the handler's own signature
        answer = self._process.call(ticket.tool, ticket.display_arguments)
        if self._guard is not None:
            self._guard.note(ticket, answer)
        error = answer["error"]
        content = f"{ERROR}{error}" if error else answer["text"]
        return replace(ticket, result=ToolCallResult(ticket.tool, content, response_status=200, ok=not error))


class NoSecrets:
    """`ports.ReplyScanner`, where the task has no credential."""

    async def scan(self, execution: Any, content: Any) -> Any:  # noqa: ARG002 - the port's own signature
        return content

    async def scan_window(self, execution: Any, texts: Any) -> Any:  # noqa: ARG002 - the port's own signature
        raise AssertionError("nobody watches")


async def execute_task(prompt: str, suite: Suite, registry: SuiteRegistry, model: Model) -> str:
    """Run one execution of a task with this prompt to its end, and return its answer."""
    memory, clock = Memory(), ManualClock()
    deps = LoopDependencies(
        owners=MemoryOwners(memory),
        tasks=MemoryTasks(memory),
        credentials=MemoryCredentials(memory),
        contexts=MemoryContexts(memory),
        clusters=MemoryClusters(memory),
        conversations=MemoryConversations(memory),
        executions=MemoryExecutions(memory, {PLAN.name: PLAN}),
        jobs=MemoryJobs(memory),
        halts=MemoryHalts(memory),
        queue=MemoryQueue(),
        alerts=MemoryAlertQueue(),
        metering=MemoryUsageQueue(),
        model=model,
        scanner=NoSecrets(),
        registry=registry,
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
    memory.owners["o"] = Owner(id="o", plan=PLAN.name, created_at=START)
    memory.tasks["t"] = Task(
        id="t",
        owner="o",
        name="agentdojo",
        task_prompt=prompt,
        model="scripted/agentdojo",
        tools=tuple(tool.name for tool in suite.tools),
        max_iterations=1_000,
        created_at=START,
        updated_at=START,
    )
    memory.executions["e"] = Execution(id="e", task="t", owner="o", created_at=START)
    await deliver(deps, "e", slice=0, holder="bench")
    ended = memory.executions["e"]
    if ended.status is not Status.COMPLETED:
        raise RuntimeError(f"the execution ended as {ended.status}: {ended.error}")
    return ended.output or ""
