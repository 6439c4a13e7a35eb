"""The ledger over HTTP: what an owner's month was spent on."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query

from ferryman.domain import ledger, statement
from ferryman.domain.purse import month_of
from ferryman.serving.api.asking import By, TheHouse
from ferryman.serving.api.shapes import ledger as shapes

router = APIRouter(prefix="/v1", tags=["ledger"])

Month = Annotated[str | None, Query(max_length=7, description='A month (UTC) like "2026-11"; without it, this one')]


@router.get("/ledger", summary="A month's credits by task, and that the books sum to zero")
async def month(house: TheHouse, owner: By, month: Month = None) -> shapes.Statement:
    month = month or month_of(house.clock.now())
    since, until = statement.bounds(month)
    entries = await house.ledger.of_owner(owner.id, since=since, until=until)
    found = statement.lines(entries)
    return shapes.Statement(
        month=month,
        tasks=tuple(shapes.line(each) for each in found),
        credits=sum((each.credits for each in found), Decimal(0)),
        entries=len(entries),
        sum_of_postings=sum(ledger.balances(entries).values(), Decimal(0)),
    )
