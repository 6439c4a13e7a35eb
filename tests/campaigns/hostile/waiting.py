"""A scenario whose execution waits for a person: what its owner does meanwhile, and what an attacker writes into the store.

A move is an attempt to have the call sent. After each the execution is delivered as the queue delivers it, and that has ended
before the next one begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import SignedDecision
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.executions.execution import Execution
from ferryman.gcp import documents
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.places import Places
from ferryman.stack import environment
from ferryman.vault.sign import SigningKey
from tests.campaigns.approvals.rig import sign
from tests.campaigns.hostile.harness import Harness

QUEUE = "ferryman-queue"
"""The account that delivers."""

POLL_S = 0.2
DELIVERIES_MAX = 600
DELIVERED = 200
STRANGER = SigningKey(1, b"s" * 32)
APPROVED = 1
"""How many sends an honest person approves where nothing else is said."""


@dataclass
class Waiting:
    """An execution that waits, on `harness`; `headers` are its owner's. `earlier` are approvals that a move left."""

    harness: Harness
    headers: Mapping[str, str]
    task: str
    execution: str
    words: Mapping[str, str]
    earlier: Approval | None = None

    @property
    def approvals(self) -> FirestoreApprovals:
        return FirestoreApprovals(self.harness.clients)

    async def get_execution(self) -> Execution:
        execution = await FirestoreExecutions(self.harness.clients).get(self.execution)
        assert execution is not None, "it is kept"
        return execution

    async def await_question(self) -> Approval | None:
        """Return what the execution waits for, once it does; None once it has ended."""
        while True:
            execution = await self.get_execution()
            if execution.status.terminal:
                return None
            approval = await self.approvals.get(execution.waiting_for) if execution.waiting_for else None
            if approval is not None and approval.state is ApprovalState.PENDING:
                return approval
            await asyncio.sleep(POLL_S)

    async def deliver(self) -> None:
        """Have the execution delivered as it is now, to its end."""
        url = self.harness.functions["orchestrator"]
        account = environment.build_account(QUEUE, self.harness.project)
        token = await self.harness.admin.create_token(account, url)
        for _ in range(DELIVERIES_MAX):
            execution = await self.get_execution()
            if execution.status.terminal:
                return
            body = {"execution": execution.id, "slice": execution.slice, "waits": 0}
            answer = await self.harness.http.post(url, json=body, headers={"Authorization": f"Bearer {token}"})
            if answer.status_code == DELIVERED:
                return
            await asyncio.sleep(POLL_S)
        raise AssertionError("it was not delivered")

    async def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Ask the API, as the owner where no other `headers` are given."""
        url = f"{self.harness.url}{path}"
        return await self.harness.http.request(method, url, json=body, headers=dict(headers or self.headers))

    async def decide(self, approval: Approval, **fields: Any) -> None:
        """Have the owner decide."""
        body = {"verdict": "approve", "digest": approval.digest, **fields}
        answer = await self.ask("POST", f"/v1/approvals/{approval.id}/decision", body)
        assert answer.is_success, f"the decision was answered {answer.status_code}: {answer.text[:200]}"

    async def put(self, approval: Approval) -> None:
        """Write an approval into the store, whatever is in it."""
        reference = self.harness.clients.firestore().collection("approvals").document(approval.id)
        await reference.set(documents.write(approval), merge=True)

    async def put_standing(self, standing: StandingApproval) -> None:
        reference = self.harness.clients.firestore().collection("standing_approvals").document(standing.id)
        await reference.set(documents.write(standing))

    async def list_standing(self) -> StandingApproval:
        """Return the newest approval from beforehand of the owner."""
        (standing, *_) = await self.approvals.list_standing((await self.get_execution()).workspace)
        return standing

    async def change_ticket(self, seq: int, **fields: Any) -> None:
        """Write fields of a call into the store."""
        await self.locate_call(seq).update(fields)

    def locate_call(self, seq: int) -> Any:
        return Places(self.harness.clients.firestore()).locate_call(self.execution, seq)

    async def start_again(self) -> None:
        """Stop the execution and start another one, for which holds what was approved beforehand by now."""
        await self.end()
        answer = await self.ask("POST", f"/v1/tasks/{self.task}/executions", {})
        assert answer.is_success, f"the execution was answered {answer.status_code}"
        self.execution = answer.json()["execution_id"]

    async def end(self) -> None:
        """Have the owner stop what still waits."""
        if not (await self.get_execution()).status.terminal:
            await self.ask("POST", f"/v1/executions/{self.execution}/cancel")


Move = Callable[[Waiting, Approval], Awaitable[None]]
"""An attempt to have a call sent that waits for a decision about this approval."""


async def attempt(waiting: Waiting, moves: tuple[Move, ...]) -> None:
    """Make `moves`, one after the other, each about what the execution waits for by then."""
    approval = await waiting.await_question()
    assert approval is not None, "nobody was asked"
    for move in moves:
        await move(waiting, approval)
        await waiting.deliver()
        approval = await waiting.await_question()
        if approval is None:
            return
    await waiting.end()


def forge(approval: Approval, *, key: SigningKey = STRANGER, **fields: Any) -> SignedDecision:
    """Return a decision about `approval` with `fields`, signed no matter who wrote it."""
    return sign(approval, key=key, **{"sends_max": APPROVED, "by": "owner", "at": approval.created_at, **fields})


def approve(approval: Approval, signed: SignedDecision | None) -> Approval:
    """Return `approval` as an attacker stores it."""
    return replace(approval, state=ApprovalState.APPROVED, decided=signed)
