"""The owner's kill switch over HTTP: everything of theirs stops, also what is under way or waits, until it is let go."""

from __future__ import annotations

from fastapi import APIRouter

from ferryman.domain.execution import Status
from ferryman.serving.api.asking import By, TheHouse
from ferryman.serving.api.shapes import table as shapes

router = APIRouter(prefix="/v1", tags=["kill switch"])

WOKEN_MAX = 100
"""How many executions are told at once; any other ends when its next slice comes."""


@router.put("/halt", summary="Stop all your executions within two seconds, and start none")
async def halt(house: TheHouse, owner: By) -> shapes.Halt:
    now = house.clock.now()
    await house.halts.put(owner.id, on=True, now=now)
    for execution in await house.executions.list(owner.id, most=WOKEN_MAX):
        if execution.status is Status.RUNNING:
            # one that waits for its next slice is not to wait any longer
            await house.queue.enqueue(execution.id, slice=execution.slice, nudge=f"halt-{int(now.timestamp())}")
    return shapes.Halt(halted=await house.halts.standing(owner.id))


@router.delete("/halt", summary="Let executions start again; those that were there before end")
async def resume(house: TheHouse, owner: By) -> shapes.Halt:
    await house.halts.put(owner.id, on=False, now=house.clock.now())
    return shapes.Halt(halted=await house.halts.standing(owner.id))
