"""An owner's account over HTTP: credits, the month's statement, and the kill switch, which stops everything of the owner's."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from ferryman.domain.credits import ledger, statement
from ferryman.domain.credits.balance import CreditBalance, CreditPart, get_month, name_owner_balance
from ferryman.domain.credits.statement import Grouping
from ferryman.domain.executions.execution import Status
from ferryman.domain.owners.cap import CapKind, name_part
from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.access import ASKS, OWNS, READS, CurrentCaller, CurrentOwner, Dependencies
from ferryman.serving.api.shapes import account as shapes
from ferryman.serving.api.shapes.plan import PlanResponse

router = APIRouter(prefix="/v1")

WOKEN_MAX = 100
"""How many executions are read and woken at once; any other ends when its next slice comes."""


@router.put(
    "/halt", dependencies=[OWNS], tags=["kill switch"], summary="Stop all your executions within two seconds, and start none"
)
async def halt_executions(deps: Dependencies, owner: CurrentOwner) -> shapes.Halt:
    now = deps.clock.now()
    await deps.halts.put(owner.id, on=True, now=now)
    started = (await deps.executions.list_unfinished(owner.id))[:WOKEN_MAX]
    for execution in await asyncio.gather(*map(deps.executions.get, started)):
        if execution is not None and execution.status is Status.RUNNING:
            # one that waits for its next slice must not wait any longer
            await deps.queue.enqueue(execution.id, slice=execution.slice, wake_up=f"halt-{int(now.timestamp())}")
    return shapes.Halt(halted=await deps.halts.find_halt_reason(owner.id))


@router.delete(
    "/halt", dependencies=[OWNS], tags=["kill switch"], summary="Let executions start again; those that were there before end"
)
async def resume_executions(deps: Dependencies, owner: CurrentOwner) -> shapes.Halt:
    await deps.halts.put(owner.id, on=False, now=deps.clock.now())
    return shapes.Halt(halted=await deps.halts.find_halt_reason(owner.id))


@router.get(
    "/ledger",
    dependencies=[READS],
    tags=["ledger"],
    summary="A month's credits by task, agent or person, and that the books sum to zero",
)
async def get_ledger(
    deps: Dependencies,
    caller: CurrentCaller,
    month: Annotated[str | None, Query(max_length=7, description='A month (UTC) like "2026-11"; without it, this one')] = None,
    by: Annotated[Grouping, Query(description="workspace: over all workspaces, with the owner's own key")] = Grouping.TASK,
) -> shapes.Statement:
    month = month or get_month(deps.clock.now())
    since, until = statement.parse_month(month)
    if by is Grouping.WORKSPACE and not caller.key.is_own:
        raise HTTPException(403, "this needs the owner's own key: a statement over all workspaces is the owner's alone")
    entries = await deps.ledger.of_owner(caller.owner.id, since=since, until=until)
    if by is not Grouping.WORKSPACE:
        entries = [entry for entry in entries if caller.sees(entry)]
    lines = statement.summarize_entries(entries, by=by)
    return shapes.Statement(
        month=month,
        by=by,
        lines=tuple(map(shapes.StatementLineResponse.model_validate, lines)),
        credits=sum((line.credits for line in lines), Decimal(0)),
        entries=len(entries),
        sum_of_postings=sum(ledger.sum_accounts(entries).values(), Decimal(0)),
    )


@router.get("/me", dependencies=[ASKS], tags=["tables"], summary="Who you are, and the credits you have left this month")
async def get_me(deps: Dependencies, caller: CurrentCaller) -> shapes.Me:
    owner, plan = caller.owner, deps.plans.get(caller.owner.plan)
    person = await deps.members.find_person(caller.person, owner=owner.id) if caller.person else None
    balance = (await deps.ledger.balance(name_owner_balance(owner.id))).at(deps.clock.now())
    counts: CreditBalance | CreditPart = balance
    limit: Decimal | None = Decimal(0) if plan is None else plan.credits_per_month
    if not caller.key.is_own:
        # a member is told nothing of what the owner's other workspaces use, nor what they leave of the plan
        counts = balance.parts.get(name_part(CapKind.WORKSPACE, caller.workspace), CreditPart())
        workspace = await deps.workspaces.get(caller.workspace, owner=owner.id)
        limit = None if workspace is None else workspace.max_credits_month
    used = counts.credits_used + counts.credits_reserved
    return shapes.Me(
        owner=owner.id,
        workspace_id=caller.workspace,
        person_id=caller.person,
        name="" if person is None else person.name,
        role=None if caller.membership is None else caller.membership.role,
        rights=tuple(right for right in Right if right in caller.rights),
        key_id=caller.key.id,
        key_expires_at=caller.key.expires_at,
        plan=owner.plan,
        month=balance.month,
        credits_used=counts.credits_used,
        credits_reserved=counts.credits_reserved,
        credits_left=None if limit is None else max(Decimal(0), limit - used),
        halted=await deps.halts.find_halt_reason(owner.id),
        limits=None if plan is None else PlanResponse.model_validate(plan),
    )
