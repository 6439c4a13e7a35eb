"""Receipts over HTTP: an execution's signed chain, and the public keys to verify it with."""

from __future__ import annotations

from fastapi import APIRouter

from ferryman.serving.api.asking import By, TheHouse, TheirExecution
from ferryman.serving.api.shapes import receipt as shapes

router = APIRouter(prefix="/v1", tags=["receipts"])


@router.get("/executions/{execution_id}/receipts", summary="An execution's receipts, chained and signed")
async def of_execution(execution: TheirExecution, house: TheHouse) -> shapes.ReceiptChain:
    entries = await house.executions.receipts(execution.id)
    return shapes.chain(execution.id, entries, house.receipt_keys)


@router.get("/receipt-keys", summary="The public keys that receipts are verified with")
async def keys(house: TheHouse, _: By) -> shapes.ReceiptKeys:
    return shapes.ReceiptKeys(keys=shapes.public(house.receipt_keys))
