"""Audit entries over HTTP: who changed what in the workspace."""

from __future__ import annotations

from fastapi import APIRouter

from ferryman.serving.api.access import READS, CurrentCaller, Dependencies
from ferryman.serving.api.paging import ByTime
from ferryman.serving.api.shapes import people as shapes

router = APIRouter(prefix="/v1", tags=["people"])


@router.get("/audit-entries", dependencies=[READS], summary="Who changed what in the workspace, newest first")
async def list_audit_entries(deps: Dependencies, caller: CurrentCaller, paging: ByTime) -> shapes.AuditEntryList:
    page = await deps.audit.list(caller.owner.id, caller.workspace, after=paging.after, most=paging.limit)
    entries = tuple(map(shapes.AuditEntryResponse.model_validate, page))
    return shapes.AuditEntryList(entries=entries, next=paging.write_next(page.end))
