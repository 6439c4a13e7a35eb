"""A call of the platform's tools, as the function that serves them knows it: who asks is what its signed token says."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.owners.plan import Plan
from ferryman.domain.signed_request import RequestToken
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.member import Membership, Right, limit_rights
from ferryman.ports.clock import Clock
from ferryman.ports.conversations import Conversations
from ferryman.ports.errors import UnavailableError
from ferryman.ports.executions import Executions
from ferryman.ports.halts import Halts
from ferryman.ports.owners import Owners
from ferryman.ports.past_messages import PastMessages
from ferryman.ports.people import Members
from ferryman.ports.queue import Queue
from ferryman.ports.schedules import Timers
from ferryman.ports.tasks import Tasks
from ferryman.ports.user_documents import UserDocuments
from ferryman.ports.workspaces import Agents, Workspaces
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.local_function.registry import LocalFunction, register

FORBIDDEN = "forbidden"
"""The code of a call that the person who asks may not make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformDependencies:
    """Everything that the platform's tools read and change. `arm_timer` sets the timer of a task's next time."""

    agents: Agents
    conversations: Conversations
    executions: Executions
    halts: Halts
    members: Members
    owners: Owners
    past_messages: PastMessages
    queue: Queue
    tasks: Tasks
    timers: Timers
    user_documents: UserDocuments
    workspaces: Workspaces
    arm_timer: Callable[[Timers, Task, datetime], Awaitable[None]]
    clock: Clock
    plans: Mapping[str, Plan]
    integrations: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformCall:
    """The `db` of a tool: what it may use, and the execution whose call `seq` it is. `membership` is None for the owner."""

    deps: PlatformDependencies
    execution: Execution = field(repr=False)
    seq: int
    membership: Membership | None = None
    faults: list[UnavailableError] = field(default_factory=list, repr=False)
    """What kept the tool from its work for now: the call is made again then."""

    @property
    def owner(self) -> str:
        return self.execution.owner

    @property
    def workspace(self) -> str:
        return self.execution.workspace

    def derive_name(self, what: str) -> str:
        """Return the id of the one thing that this call makes: the same for every delivery of it."""
        return f"{what}_{hashlib.sha256(f'{self.execution.id}:{self.seq}'.encode()).hexdigest()[:24]}"

    def check_right(self, right: Right) -> None:
        """Raise `LocalFunctionError` unless the person who asks may do this themselves (confused deputy)."""
        if right not in limit_rights(self.membership, frozenset(Right)):
            raise LocalFunctionError(f"the person who asks may not {right.value} in this workspace", code=FORBIDDEN)

    async def find_plan(self) -> Plan:
        """Return the owner's plan. Raise `LocalFunctionError`."""
        owner = await self.deps.owners.get(self.owner)
        plan = None if owner is None else self.deps.plans.get(owner.plan)
        if plan is None:
            raise LocalFunctionError("the owner has no plan", code=FORBIDDEN)
        return plan


def register_tool(name: str, function: LocalFunction) -> None:
    """Register a tool of this package. A store that does not answer is no result of it: the call fails, and is made again."""

    async def call(*, db: PlatformCall, **arguments: Any) -> str:
        try:
            return await function(db=db, **arguments)
        except UnavailableError as fault:
            db.faults.append(fault)
            raise

    register(name, call)


class InvalidCallError(Exception):
    """The request names no call of the token's user in its workspace; the text says why."""


async def begin_call(deps: PlatformDependencies, token: RequestToken, named: Any) -> PlatformCall:
    """Return the call that a request is of. `named` is what it says of its call: `execution` and `seq`.

    Raise `InvalidCallError` where that is none of the token's user and workspace, or is not running, or where the person has
    left. What is read of the execution decides nothing that the token does not say: it has to agree.
    """
    if not isinstance(named, Mapping) or not isinstance(named.get("execution"), str) or type(named.get("seq")) is not int:
        raise InvalidCallError("the request names no call")
    execution = await deps.executions.get(named["execution"])
    if execution is None or (execution.context.user, execution.workspace) != (token.user, token.workspace):
        raise InvalidCallError("the call is none of this user in this workspace")
    if execution.status is not Status.RUNNING or execution.cancel_requested:
        raise InvalidCallError("the execution of the call is not running")
    membership = None
    if execution.person:
        membership = await deps.members.get(execution.person, owner=execution.owner, workspace=execution.workspace)
        if membership is None:
            raise InvalidCallError("the person is no member of the workspace any more")
    return PlatformCall(deps=deps, execution=execution, seq=named["seq"], membership=membership)
