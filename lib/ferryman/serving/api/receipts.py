"""Receipts over HTTP: an execution's signed chain, and the public keys to verify it with."""

from __future__ import annotations

from fastapi import APIRouter

from ferryman.serving.api.access import CurrentOwner, Dependencies, OwnedExecution
from ferryman.serving.api.shapes import receipt as shapes

router = APIRouter(prefix="/v1", tags=["receipts"])


@router.get("/executions/{execution_id}/receipts", summary="An execution's receipts, chained and signed")
async def list_receipts(execution: OwnedExecution, deps: Dependencies) -> shapes.ReceiptChain:
    entries = await deps.executions.receipts(execution.id)
    return shapes.to_chain(execution.id, entries, deps.receipt_keys)


@router.get("/receipt-keys", summary="The public keys that receipts are verified with")
async def list_receipt_keys(deps: Dependencies, _: CurrentOwner) -> shapes.ReceiptKeysResponse:
    return shapes.ReceiptKeysResponse(keys=shapes.to_public_keys(deps.receipt_keys))
