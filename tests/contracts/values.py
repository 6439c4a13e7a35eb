"""Values for the stores: one owner, one task, one execution with everything set that a document can hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.rate import ExecutionRateState
from ferryman.domain.credentials.credential import AuthType, SealedCredential
from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.usage import Usage
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import GURU
from ferryman.domain.receipts.receipt import Fact, Head, Receipt, ReceiptKind, append_receipts
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.ports.executions import ExecutionEnding, Executions, TurnCommit
from ferryman.ports.tasks import Tasks
from ferryman.ports.tickets import CallRequest
from tests.builders import build_label, build_policy, build_setup, build_step, build_task, build_ticket

from .conftest import Stores

NOW = datetime(2026, 11, 21, 12, 0, 0, 123_000, tzinfo=UTC)
LEASE = timedelta(seconds=120)
LATER = NOW + timedelta(seconds=10)
TOO_LATE = NOW + LEASE

OWNER = Owner(id="ann", plan="guru", created_at=NOW)
TASK = build_task(
    id="task_1",
    owner="ann",
    name="näme",
    task_prompt="Do {{date}}",
    model="claude-haiku-4-5",
    tools=("api_call", "webhook"),
    integrations=("github",),
    webhook_urls=("https://hooks.example.com/1",),
    max_credits=Decimal("12.3456"),
    temperature=None,
    created_at=NOW,
)
EXECUTION = Execution(id="exec_1", task="task_1", owner="ann", input="Paris\n☂", created_at=NOW)
POLICY = build_policy(
    owner="ann",
    task="task_1",
    plan=GURU,
    tools=("api_call",),
    integrations=("github",),
    domains=("*.github.com",),
    credentials=("A",),
)
OPENING = build_setup(
    model="claude-haiku-4-5",
    tools=({"name": "api_call", "input_schema": {"type": "object", "enum": [[1], []]}},),
    started_at=NOW,
)
ENTRY = ledger.record_reservation(EXECUTION, Decimal(100), at=NOW)
RESULT = ToolCallResult(
    tool="api_call",
    content="<tool_response>ü</tool_response>",
    url="https://api.github.com/",
    method="GET",
    credential_used="A",
    response_status=200,
    response_size_bytes=3,
    latency_ms=1.25,
)


async def put(tasks: Tasks, executions: Executions, execution: Execution) -> None:
    """Store `execution`, and first its task where there is none."""
    if await tasks.get(execution.task) is None:
        await tasks.create(replace(TASK, id=execution.task, owner=execution.owner, workspace="", agent=""))
    await executions.start(execution, most=1_000)


def receipts(head: Head, *kinds: ReceiptKind, execution: str = "exec_1") -> tuple[tuple[Receipt, ...], Head]:
    """Return entries of an execution chained on to `head`, and the head they lead to."""
    facts = [Fact(kind, {"seq": seq, "credits": "0.5"}, {f"calls/{seq}": None}) for seq, kind in enumerate(kinds)]
    return append_receipts(head, facts, execution=execution, at=NOW, key=1, sign=lambda message: message * 2)


def call_request(
    seq: int = 0, *, epoch: int = 1, execution: str = "exec_1", task: str = "task_1", owner: str = "ann"
) -> CallRequest:
    """Return what the orchestrator asks of a tool function for a call of `EXECUTION`."""
    return CallRequest(execution=execution, seq=seq, epoch=epoch, task=task, owner=owner)


def build_sealed(version: int = 1, name: str = "A", task: str = "task_1") -> SealedCredential:
    """Return a sealed credential of `TASK`."""
    label = build_label(
        owner="ann",
        task=task,
        name=name,
        version=version,
        service="github",
        auth_type=AuthType.HEADER,
        auth_header_name="X-Key",
        hosts=("*.github.com", "github.com"),
    )
    return SealedCredential(label=label, ciphertext=bytes(range(256)), key_version=3, created_at=NOW, updated_at=NOW)


def turn(number: int = 1, first: int = 0, calls: int = 2, epoch: int = 1) -> TurnCommit:
    """Return the turn `number`, with its calls."""
    content: tuple[dict[str, Any], ...] = (
        {"type": "text", "text": "hm"},
        {"type": "tool_use", "input": {"a": [[1, None], {}]}},
    )
    step = build_step(
        number=number,
        content=content,
        stop_reason="tool_use",
        usage=Usage(input_tokens=7, cache_read_tokens=2),
        credits=Decimal("0.125"),
        first_call=first,
        calls=calls,
        at=NOW,
    )
    tickets = tuple(
        build_ticket(
            seq=first + offset,
            step=number,
            call=f"toolu_{offset}",
            tool="api_call",
            arguments=b"\x00\xff",
            display_arguments={"url": "https://api.github.com/", "list": [[]]},
            epoch=epoch,
            created_at=NOW,
        )
        for offset in range(calls)
    )
    return TurnCommit(step=step, tickets=tickets)


def apply_turn(execution: Execution) -> Execution:
    """Return `execution` after its first turn, as its holder has it."""
    return replace(
        execution,
        iterations=1,
        credits_used=Decimal("0.125"),
        usage=Usage(input_tokens=7, cache_read_tokens=2),
        rate=ExecutionRateState(calls=2, window_calls=2, window_opened_at=NOW),
        tool_calls=(RESULT,),
        tool_calls_total=1,
        events=6,
    )


DONE = ExecutionEnding(status=Status.COMPLETED, output="done")


async def open_workspaces(stores: Stores, *names: str) -> None:
    """Store workspaces of ann's."""
    for name in names:
        await stores.workspaces.create(Workspace(id=name, owner="ann", name="w", created_at=NOW, updated_at=NOW))


async def claim_execution(stores: Stores) -> Execution:
    await put(stores.tasks, stores.executions, EXECUTION)
    execution, is_claimed = await stores.executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    assert is_claimed
    return execution


async def open_execution(stores: Stores) -> Execution:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    execution = replace(await claim_execution(stores), policy=POLICY, events=1)
    await stores.executions.open(execution, OPENING, entry=ENTRY, now=NOW)
    return replace(execution, credits_reserved=Decimal(100))


async def read_execution(stores: Stores) -> Execution:
    execution = await stores.executions.get("exec_1")
    assert execution is not None
    return execution
