"""Imports over HTTP: an archive becomes a new workspace, one file of it in each request, by who has the owner's own key."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ferryman import offload
from ferryman.catalog.tools import NO_BUCKET, keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.counts import say_count
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.workspaces.imports import IMPORTED_FILES_MAX, ArchiveImport
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.serving.api.access import Dependencies, Principal, Reader, get_plan
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.large_body import take_large_body
from ferryman.serving.api.limits import FILES, take_token
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import imports as shapes
from ferryman.serving.api.shapes.imports import ArchiveImportResponse
from ferryman.serving.api.workspaces import OwnedWorkspace, find_workspace
from ferryman.serving.importing.checking import check_spanning
from ferryman.serving.importing.pieces import read_piece
from ferryman.serving.importing.storing import store_file
from ferryman.serving.importing.storing_definitions import split_clusters

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/imports", tags=["workspaces"])

Number = Annotated[int, Query(ge=0, lt=IMPORTED_FILES_MAX, description="The file's place in the archive, from 0")]
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ImportFile"}}},
    }
}
"""The body, which the route reads itself, for the description."""

for _function in (read_piece, split_clusters, check_spanning):
    offload.preload(_function)


@router.post("", status_code=201, summary="Begin to import an archive, or find the import of it that is not finished")
async def begin_import(
    body: shapes.NewImport, deps: Dependencies, caller: Principal, once: Idempotency, response: Response
) -> ArchiveImportResponse:
    for known in await deps.workspaces.list(caller.owner.id):
        if known.state is WorkspaceState.IMPORTING and known.imported is not None and known.imported.digest == body.digest:
            response.headers["Location"] = f"/v1/imports/{known.id}"
            return _to_response(known, known.imported)
    _check_files(body, deps, caller)
    run = ArchiveImport(
        source=body.workspace,
        digest=body.digest,
        keys=body.keys,
        files=body.files,
        expected={**body.counts},
        file_bytes=body.file_bytes,
    )
    workspace = Workspace(
        id=once.name("ws"),
        owner=caller.owner.id,
        name=body.name,
        state=WorkspaceState.IMPORTING,
        imported=run,
        created_at=once.now,
        updated_at=once.now,
    )
    answer, location = _to_response(workspace, run), f"/v1/imports/{workspace.id}"
    await deps.workspaces.create(workspace, done=await once.complete(201, answer, location=location))
    response.headers["Location"] = location
    return answer


@router.get("/{workspace_id}", summary="How far an import is")
async def get_import(workspace: OwnedWorkspace, _: Reader) -> ArchiveImportResponse:
    return _to_response(workspace, _find_run(workspace))


@router.put("/{workspace_id}/files", openapi_extra=BODY, summary="Store the next file of an archive")
async def put_import_file(
    request: Request, workspace: OwnedWorkspace, deps: Dependencies, caller: Principal, number: Number
) -> ArchiveImportResponse:
    _find_run(workspace)
    take_token(deps.file_rates, caller.owner.id, FILES, now=deps.clock.now(), what="files of archives")
    # the body may be large: it is read once the owner is known and has a turn
    async with take_large_body(request, deps, caller, is_own=True) as body:
        # which took its time: the workspace may have been deleted meanwhile, or another file stored
        workspace = await find_workspace(workspace.id, deps, caller)
        stored = await store_file(deps, caller, workspace, _find_run(workspace), number, body)
    assert stored.workspace.imported is not None, "it was imported"
    answer = _to_response(stored.workspace, stored.workspace.imported)
    return answer.model_copy(update={"credentials": stored.credentials, "rules": stored.rules})


def _check_files(body: shapes.NewImport, deps: ApiDependencies, caller: Caller) -> None:
    """Raise where the workspace's files cannot be kept here, before anything of the archive is."""
    count, most = body.counts.get("files", 0), get_plan(deps, caller.owner).file_bytes
    if (count or body.file_bytes) and not keeps_files(deps.tools):
        raise ConflictError(f"the archive has {say_count(count, 'files')}, and {NO_BUCKET}")
    if body.file_bytes > most:
        raise LimitReachedError(
            f"the archive has files of {body.file_bytes:,} bytes, and a workspace of this plan keeps at most {most:,}"
        )


def _find_run(workspace: Workspace) -> ArchiveImport:
    if workspace.imported is None:
        raise NotFoundError("import")
    return workspace.imported


def _to_response(workspace: Workspace, run: ArchiveImport) -> ArchiveImportResponse:
    return ArchiveImportResponse(
        workspace_id=workspace.id,
        state=workspace.state,
        source=run.source,
        digest=run.digest,
        files=run.files,
        following=run.following,
        counts=dict(run.counts),
    )
