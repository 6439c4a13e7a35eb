"""Deciding about the calls that wait, by the code of the api's own route: it checks, signs, stores and wakes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from bench.agentdojo.approver import Approver
from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Right
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import CountingIds, ManualClock
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.queue import MemoryQueue
from ferryman.serving.api.approvals import decide_approval
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.approval import NewDecision
from ferryman.vault.decision_keys import DecisionSigning, derive_decision_public_key
from ferryman.vault.decisions import PublishedKeys

SECRET = b"agentdojo".ljust(32, b"-")
PUBLIC = derive_decision_public_key(SECRET)
VERIFIER = PublishedKeys({1: PUBLIC})
"""What every sender verifies decisions with."""


class ApiSecret:
    """`ports.PrivateKeys`: the one version of the api's secret."""

    async def private(self, version: int) -> bytes:
        return {1: SECRET}[version]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingStores:
    """Of the api's dependencies, what deciding uses."""

    executions: MemoryExecutions
    approvals: MemoryApprovals
    halts: MemoryHalts
    queue: MemoryQueue
    clock: ManualClock
    ids: CountingIds
    tracer: RecordingLog
    decision_signing: DecisionSigning

    @classmethod
    def build(cls, memory: Memory, queue: MemoryQueue, clock: ManualClock) -> DecidingStores:
        """Return those of one execution."""
        return cls(
            executions=MemoryExecutions(memory),
            approvals=MemoryApprovals(memory),
            halts=MemoryHalts(memory),
            queue=queue,
            clock=clock,
            ids=CountingIds(),
            tracer=RecordingLog(),
            decision_signing=DecisionSigning(ApiSecret(), {1: PUBLIC}),
        )

    async def decide_all(self, person: Approver, owner: Owner, workspace: str) -> None:
        """Have a person decide about every call that waits, as they are shown it."""
        api = cast("ApiDependencies", self)
        key = ApiKey(owner=owner.id, created_at=owner.created_at)
        caller = Caller(owner=owner, workspace=workspace, rights=frozenset({Right.APPROVE}), key=key, digest="")
        for listed in (await self.approvals.list(workspace, state=ApprovalState.PENDING)).items:
            approval = await self.approvals.get(listed.id)
            assert approval is not None, "it was listed"
            verdict = person.decide(json.loads(approval.form))
            await decide_approval(NewDecision(verdict=verdict, digest=approval.digest), approval, api, caller)
