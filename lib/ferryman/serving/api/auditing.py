"""Auditing: every change leaves an entry that says who made it, in its workspace, and a key when it was used last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.owners.idempotency import AnsweredError, InProgressError
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.audit import TARGET_CHARACTERS_MAX, TARGETS_MAX, AuditEntry
from ferryman.domain.workspaces.workspace import WorkspaceClosedError, WorkspaceGoneError
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.groups import name_operation
from ferryman.serving.api.rights import Caller, RouteNeed

REFUSALS = (
    HTTPException,
    RequestValidationError,
    InvalidInputError,
    StaleError,
    WorkspaceGoneError,
    WorkspaceClosedError,
    LimitReachedError,
    AnsweredError,
    InProgressError,
)
"""What a route raises where it has changed nothing."""


@asynccontextmanager
async def record_change(
    deps: ApiDependencies, request: Request, response: Response, caller: Caller, needs: Sequence[RouteNeed]
) -> AsyncIterator[None]:
    """Store an entry before the block, which may change something, and afterwards that it did, or nothing where it was refused.

    What reads, and what starts or cancels an execution, leaves none: an execution names the person itself.
    """
    if request.method == "GET" or not set(needs) - {RouteNeed.READ, RouteNeed.RUN}:
        yield
        return
    action = name_operation(request.scope["route"]).removesuffix("OfAgent")
    async with record_action(deps, request, response, caller, action):
        yield


@asynccontextmanager
async def record_action(
    deps: ApiDependencies, request: Request, response: Response, caller: Caller, action: str
) -> AsyncIterator[None]:
    """Store an entry of `action`, the operation of the API that the block does, as `record_change` does."""
    entry = AuditEntry(
        id=deps.ids.new("audit"),
        owner=caller.owner.id,
        workspace=caller.workspace,
        person=caller.person,
        key=caller.key.id,
        action=action,
        created_at=deps.clock.now(),
    )
    await deps.audit.add(entry)
    try:
        yield
    except REFUSALS:
        await _finish(deps, entry, None)
        raise
    # a retry that is answered as the first request was has changed nothing
    is_repeated = getattr(request.state, "is_repeated", False)
    await _finish(deps, entry, None if is_repeated else _list_targets(request, response))


async def _finish(deps: ApiDependencies, entry: AuditEntry, targets: tuple[str, ...] | None) -> None:
    try:
        if targets is None:
            await deps.audit.forget(entry)
        else:
            await deps.audit.end(replace(entry, targets=targets, done=True))
    except UnavailableError as error:
        # the entry is there, and does not say that it is done
        deps.tracer.line("audit.not_ended", severity="WARNING", entry=entry.id, error=type(error).__name__)


def _list_targets(request: Request, response: Response) -> tuple[str, ...]:
    """Return what the change was of: what its path names, and what it created."""
    created = response.headers.get("location", "").rpartition("/")[2]
    named = [*map(str, request.path_params.values()), *([created] if created else [])]
    return tuple(name[:TARGET_CHARACTERS_MAX] for name in dict.fromkeys(named))[:TARGETS_MAX]


def note_use(deps: ApiDependencies, caller: Caller) -> None:
    """Have it written when the key was used last, beside the request: nothing waits for it, and nothing fails with it."""
    now = deps.clock.now()
    if not caller.key.must_note_use(now):
        return

    async def write() -> None:
        try:
            await deps.keys.note_use(caller.digest, now)
        except UnavailableError as error:
            deps.tracer.line("key.use_not_noted", severity="WARNING", error=type(error).__name__)

    noting = asyncio.create_task(write())
    deps.noting.add(noting)
    noting.add_done_callback(deps.noting.discard)
