"""The ledger over HTTP: what an owner's month was spent on."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query

from ferryman.domain.credits import ledger, statement
from ferryman.domain.credits.balance import get_month
from ferryman.serving.api.access import CurrentOwner, Dependencies
from ferryman.serving.api.shapes import ledger as shapes

router = APIRouter(prefix="/v1", tags=["ledger"])

Month = Annotated[str | None, Query(max_length=7, description='A month (UTC) like "2026-11"; without it, this one')]


@router.get("/ledger", summary="A month's credits by task, and that the books sum to zero")
async def get_ledger(deps: Dependencies, owner: CurrentOwner, month: Month = None) -> shapes.Statement:
    month = month or get_month(deps.clock.now())
    since, until = statement.parse_month(month)
    entries = await deps.ledger.of_owner(owner.id, since=since, until=until)
    lines = statement.summarize_tasks(entries)
    return shapes.Statement(
        month=month,
        tasks=tuple(shapes.to_response(line) for line in lines),
        credits=sum((line.credits for line in lines), Decimal(0)),
        entries=len(entries),
        sum_of_postings=sum(ledger.sum_accounts(entries).values(), Decimal(0)),
    )
