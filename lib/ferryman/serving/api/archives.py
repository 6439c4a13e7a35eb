"""Archives over HTTP: a workspace exported as one file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ferryman.composition.api import ApiDependencies
from ferryman.domain.owners.stream import HOLD, RENEWAL
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.ports.errors import UnavailableError
from ferryman.rates import Rate
from ferryman.serving.api.access import Dependencies, Manager
from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.api.idempotency import IdempotentRoute
from ferryman.serving.api.limits import take_token
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.workspaces import OwnedWorkspace
from ferryman.serving.exporting import WorkspaceExport

EXPORTS = Rate(at_once=3, every=timedelta(seconds=10))
"""Exports that an owner may begin in one instance."""

EXPORTS_MAX = 1
"""Exports of one owner under way, over all instances: each reads everything of a workspace."""

CHECK = timedelta(seconds=1)
"""How often it is asked, while an archive is sent, whether who asked for it still may."""

AGAIN_S = 30
RELEASE_S = 5.0
MEDIA_TYPE = "application/gzip"
ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The archive: JSON lines in a tar of gzip, which ends with its manifest",
        "content": {MEDIA_TYPE: {"schema": {"type": "string", "contentMediaType": MEDIA_TYPE}}},
    }
}

router = APIRouter(route_class=IdempotentRoute, prefix="/v1", tags=["workspaces"])


class _RightLostError(Exception):
    """The key was revoked, its person left or lost the right, or the workspace is gone, while the archive was sent."""


class ArchiveResponse(StreamingResponse):
    """The bytes of an archive. It counts among its owner's exports until its last byte, or until its client has gone."""

    def __init__(self, workspace: Workspace, deps: ApiDependencies, caller: Caller) -> None:
        headers = {"Content-Disposition": f'attachment; filename="{workspace.id}.tar.gz"', "Cache-Control": "no-store"}
        export = WorkspaceExport(deps, workspace, self._renew)
        super().__init__(self._leave_out_empty(export), media_type=MEDIA_TYPE, headers=headers)
        self._deps = deps
        self._workspace = workspace
        self._owner = f"export:{workspace.owner}"
        self._name = deps.ids.new("export")
        self._caller = caller
        self._renewal_due = deps.clock.now() + RENEWAL
        self._check_due = deps.clock.now() + CHECK

    async def hold(self) -> bool:
        """Count among the owner's exports from now on; False where there are as many as may be."""
        now = self._deps.clock.now()
        return await self._deps.streams.hold(self._owner, self._name, now=now, until=now + HOLD, most=EXPORTS_MAX)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(self._release())

    async def _leave_out_empty(self, export: WorkspaceExport) -> AsyncIterator[bytes]:
        try:
            async for written in export.stream():
                if written:
                    yield written
        except _RightLostError:
            # what was sent has no manifest, and so is no archive
            self._deps.tracer.line("export.broken_off", severity="WARNING", owner=self._caller.owner.id)

    async def _renew(self) -> None:
        """Raise `_RightLostError` where the caller may not export any more, or the workspace is gone; ask once a second."""
        now = self._deps.clock.now()
        if now >= self._check_due:
            if not await still_has_right(self._deps, self._caller, Right.MANAGE) or not await self._is_there():
                raise _RightLostError
            self._check_due = now + CHECK
        if now >= self._renewal_due:
            await self.hold()
            self._renewal_due = now + RENEWAL

    async def _is_there(self) -> bool:
        """Tell whether the workspace is not deleted: that of the request, which the right is in, may be another one."""
        stored = await self._deps.workspaces.get(self._workspace.id, owner=self._workspace.owner)
        return stored is not None and stored.state is not WorkspaceState.DELETING

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(RELEASE_S):
                await self._deps.streams.release(self._owner, self._name)
        except (UnavailableError, TimeoutError) as error:
            self._deps.tracer.line("export.not_released", severity="WARNING", error=type(error).__name__)


@router.get(
    "/workspaces/{workspace_id}/export",
    summary="Everything of a workspace as one archive without a secret",
    response_class=StreamingResponse,
    responses=ARCHIVE,
)
async def export_workspace(workspace: OwnedWorkspace, deps: Dependencies, caller: Manager) -> StreamingResponse:
    take_token(deps.import_rates, f"export:{caller.owner.id}", EXPORTS, now=deps.clock.now(), what="exports")
    response = ArchiveResponse(workspace, deps, caller)
    if not await response.hold():
        raise TooManyRequestsError("an export of yours is under way; one at a time is made", after_s=AGAIN_S)
    return response
