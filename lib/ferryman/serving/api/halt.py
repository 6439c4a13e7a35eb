"""The owner's kill switch over HTTP: everything of theirs stops, also what is under way or waits, until it is let go."""

from __future__ import annotations

from fastapi import APIRouter

from ferryman.domain.executions.execution import Status
from ferryman.serving.api.access import CurrentOwner, Dependencies
from ferryman.serving.api.shapes import table as shapes

router = APIRouter(prefix="/v1", tags=["kill switch"])

WOKEN_MAX = 100
"""How many executions are told at once; any other ends when its next slice comes."""


@router.put("/halt", summary="Stop all your executions within two seconds, and start none")
async def halt(deps: Dependencies, owner: CurrentOwner) -> shapes.Halt:
    now = deps.clock.now()
    await deps.halts.put(owner.id, on=True, now=now)
    for execution in await deps.executions.list(owner.id, most=WOKEN_MAX):
        if execution.status is Status.RUNNING:
            # one that waits for its next slice is not to wait any longer
            await deps.queue.enqueue(execution.id, slice=execution.slice, wake_up=f"halt-{int(now.timestamp())}")
    return shapes.Halt(halted=await deps.halts.find_halt_reason(owner.id))


@router.delete("/halt", summary="Let executions start again; those that were there before end")
async def resume(deps: Dependencies, owner: CurrentOwner) -> shapes.Halt:
    await deps.halts.put(owner.id, on=False, now=deps.clock.now())
    return shapes.Halt(halted=await deps.halts.find_halt_reason(owner.id))
