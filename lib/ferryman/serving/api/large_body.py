"""Large bodies: documents and files of archives, of which an instance reads a few at once, each when it is its turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.exceptions import HTTPException

from ferryman.ports.errors import UnavailableError

TURN_S = 20
BODY_S = 60


@asynccontextmanager
async def take_import_turn(turns: asyncio.Semaphore) -> AsyncIterator[None]:
    """Hold one of the instance's turns for as long as the block takes. Raise `UnavailableError` after `TURN_S` seconds."""
    try:
        async with asyncio.timeout(TURN_S):
            await turns.acquire()
    except TimeoutError:
        raise UnavailableError("too many imports are under way; try again in a minute") from None
    try:
        yield
    finally:
        turns.release()


async def read_large_body(request: Request) -> bytes:
    """Return the body. Raise 408 where it takes more than `BODY_S` seconds."""
    try:
        async with asyncio.timeout(BODY_S):
            return await request.body()
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {BODY_S} seconds") from None
