"""The owner's kill switch over HTTP: everything of theirs stops, also what is under way, until it is let go."""

from __future__ import annotations

from fastapi import APIRouter

from ferryman.serving.api.asking import By, TheHouse
from ferryman.serving.api.shapes import table as shapes

router = APIRouter(prefix="/v1", tags=["kill switch"])


@router.put("/halt", summary="Stop all your executions within two seconds, and start none")
async def halt(house: TheHouse, owner: By) -> shapes.Halt:
    await house.halts.put(owner.id, on=True, now=house.clock.now())
    return shapes.Halt(halted=await house.halts.standing(owner.id))


@router.delete("/halt", summary="Let executions start again; those that were stopped have ended")
async def resume(house: TheHouse, owner: By) -> shapes.Halt:
    await house.halts.put(owner.id, on=False, now=house.clock.now())
    return shapes.Halt(halted=await house.halts.standing(owner.id))
