"""Writes of files over HTTP: under a condition, their bytes reserved before, and counted once after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.files.conditions import read_tags
from ferryman.domain.files.object import ABSENT, ObjectChangedError
from ferryman.domain.files.quota import QuotaExceededError, TooManyWritesError, may_come_again
from ferryman.domain.files.writes import FileWrite
from ferryman.domain.problem import InvalidInputError
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.errors import ConflictError
from ferryman.serving.api.rights import Caller

Answer = TypeVar("Answer")

ATTEMPTS = 2
"""How often a write is made where its answer is lost: under one name, so that it happens once."""


async def read_condition(
    deps: ApiDependencies, caller: Caller, key: str, if_match: str | None, if_none_match: str | None
) -> str | None:
    """Return the version that a write expects, None for any. Raise 412 where the condition cannot hold any more."""
    if if_none_match is not None:
        if read_tags(if_none_match, "If-None-Match") is not None or if_match is not None:
            raise ConflictError("If-None-Match of a write is *, which says that there must be no such file, and stands alone")
        return ABSENT
    if if_match is None:
        return None
    tags, file = read_tags(if_match, "If-Match"), await deps.files.head(caller.workspace, key)
    if file is None or (tags is not None and file.version not in tags):
        raise build_changed_error()
    return file.version


@asynccontextmanager
async def reserve_write(deps: ApiDependencies, caller: Caller, key: str, size_bytes: int) -> AsyncIterator[str]:
    """Reserve the bytes of a write while the block makes it, and give them back where it stores nothing.

    Yields the write's name. Where its outcome is unknown, the bytes stay reserved until the bucket was looked into.
    """
    plan, write = get_plan(deps, caller.owner), deps.ids.new("upload")
    quotas, workspace, now = deps.file_quotas, caller.workspace, deps.clock.now()
    try:
        await quotas.reserve(
            workspace, write, owner=caller.owner.id, size_bytes=size_bytes, limit_bytes=plan.file_bytes, now=now, key=key
        )
    except QuotaExceededError as error:
        raise HTTPException(413, str(error)) from None
    except TooManyWritesError as error:
        raise HTTPException(429, str(error), {"Retry-After": "5"}) from None
    try:
        yield write
    except ObjectChangedError:
        await quotas.release(workspace, write)
        raise build_changed_error() from None
    except (InvalidInputError, HTTPException):
        await quotas.release(workspace, write)
        raise


async def count_write(deps: ApiDependencies, caller: Caller, write: str, done: FileWrite) -> bool:
    """Count what a write has stored. Return whether what a deletion has left may go.

    It stays where it is not counted, since a later write of the workspace looks into the bucket then, and where a write before
    it may come again.
    """
    try:
        quota = await deps.file_quotas.close(caller.workspace, write, done.writes)
    except UnavailableError as error:
        deps.tracer.line("file.not_counted", severity="WARNING", error=type(error).__name__)
        return False
    return not may_come_again(quota, done.writes)


async def repeat_write(write: Callable[[], Awaitable[Answer]]) -> Answer:
    """Return what `write` answers, made again where its answer was lost. Raise `UnavailableError`."""
    for _ in range(ATTEMPTS - 1):
        with suppress(UnavailableError):
            return await write()
    return await write()


def build_changed_error() -> HTTPException:
    """Return 412."""
    return HTTPException(412, "the file is of another version than the condition says, or is not there")
