"""Large bodies: documents, files, and files of archives, of which an instance reads a few at once, each when it is its turn.

A body that comes slowly holds one of its owner's turns and one of those for bodies; a turn for the work on it is taken once it
is there, so that a slow sender holds up no work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.limits import IMPORTS_MAX, take_turn
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller

TURN_S = 20
BODY_S = 60


@asynccontextmanager
async def take_large_body(
    request: Request, deps: ApiDependencies, caller: Caller, *, is_own: bool = False, what: str = "imports"
) -> AsyncIterator[bytes]:
    """Read the body, and hold the turns of one of `what` for as long as the block takes.

    Raise 429 and `UnavailableError` where there is no turn, 408 where the body takes too long, and 403 where by its end
    `caller` has not the right to manage the workspace any more, or, with `is_own`, not the owner's own key.
    """
    slot = take_turn(deps.imports_of, caller.owner.id, most=IMPORTS_MAX, within_s=TURN_S, what=what)
    async with slot, _take_turn(deps.import_bodies):
        body = await _read_body(request)
        async with _take_turn(deps.imports):
            if not await still_has_right(deps, caller, Right.MANAGE, is_own=is_own):
                raise HTTPException(403, "this API key lost its right while the body came: nothing was done")
            yield body


@asynccontextmanager
async def _take_turn(turns: asyncio.Semaphore) -> AsyncIterator[None]:
    """Hold one of the instance's turns for as long as the block takes. Raise `UnavailableError` after `TURN_S` seconds."""
    try:
        async with asyncio.timeout(TURN_S):
            await turns.acquire()
    except TimeoutError:
        raise UnavailableError("too many large bodies are under way; try again in a minute") from None
    try:
        yield
    finally:
        turns.release()


async def _read_body(request: Request) -> bytes:
    """Return the body. Raise 408 where it takes more than `BODY_S` seconds."""
    try:
        async with asyncio.timeout(BODY_S):
            return await request.body()
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {BODY_S} seconds") from None
