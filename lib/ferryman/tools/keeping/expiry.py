"""Kept results whose executions are gone: deleted by a timer, the oldest first, and counted back.

A bucket that deletes by itself would count nothing back in the quota, and not every service has such a rule. A timer is set
before a result is kept. It comes on the day on which the result expires, or, since a queue waits for a month at most, on a day
before; then it is set again for the first result that is left.

The process may die at any line: the queue delivers the slice again. Each deletion has a name of its own, and the next one of
the same file counts what it has not lived to count; one name for both would count twice what was counted before the death.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from ferryman.domain.executions.retention import limit_retention
from ferryman.domain.files.kept import FOLDER, find_expiry
from ferryman.domain.files.object import ObjectChangedError, ObjectPage
from ferryman.domain.files.quota import TooManyWritesError, may_come_again
from ferryman.domain.workspaces.workspace import WorkspaceGoneError, WorkspaceState
from ferryman.ports.clock import Clock, Ids
from ferryman.ports.errors import UnavailableError
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.files import Files
from ferryman.ports.kept import KeptTimers
from ferryman.ports.log import Tracer
from ferryman.ports.workspaces import Workspaces

FILES_PER_SLICE = 50
"""Files that one delivery looks at: some five requests for each that has expired."""

AHEAD = timedelta(days=28)
"""How far ahead a timer is set at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryDependencies:
    """Everything that the expiry of kept results uses; `period` is how long the deployment keeps executions, None: for ever."""

    files: Files
    quotas: FileQuotas
    workspaces: Workspaces
    timers: KeptTimers
    clock: Clock
    ids: Ids
    tracer: Tracer
    period: timedelta | None


def find_timer_day(key: str, period: timedelta, now: datetime) -> date:
    """Return the day on which the timer of a kept result comes."""
    latest = (now + AHEAD).date()
    return min(find_expiry(key, period) or latest, latest)


async def deliver(deps: ExpiryDependencies, workspace: str, *, owner: str, day: date, slice: int, cursor: str) -> bool:
    """Delete the expired ones of a slice of the kept results, and set the next timer. Return whether the queue may drop this
    delivery; False has it delivered again."""
    stored = await deps.workspaces.get(workspace, owner=owner)
    if stored is None or stored.state is WorkspaceState.DELETING:
        return True
    period = limit_retention(deps.period, stored.retention_days)
    if period is None:
        return True
    try:
        page = await deps.files.list(workspace, f"{FOLDER}/", cursor=cursor or None, most=FILES_PER_SLICE)
        following = await _remove_expired(deps, workspace, owner, page, period)
        if following is not None:
            await deps.timers.set(workspace, owner=owner, day=find_timer_day(following, period, deps.clock.now()))
        elif page.cursor is not None:
            await deps.timers.set(workspace, owner=owner, day=day, slice=slice + 1, cursor=page.cursor)
    except WorkspaceGoneError:
        return True
    except (UnavailableError, ObjectChangedError, TooManyWritesError) as error:
        deps.tracer.line("kept.paused", workspace=workspace, reason=type(error).__name__)
        return False
    return True


async def _remove_expired(
    deps: ExpiryDependencies, workspace: str, owner: str, page: ObjectPage, period: timedelta
) -> str | None:
    """Delete what has expired of a page, also what an earlier deletion has left; return the first key that has not."""
    today, removed, following = deps.clock.now().date(), 0, None
    versions = dict.fromkeys(page.deleted) | {entry.key: entry.version for entry in page.entries}
    for key, version in sorted(versions.items()):
        expiry = find_expiry(key, period)
        if expiry is not None and expiry > today:
            following = key
            break
        if expiry is not None:
            await _remove(deps, workspace, owner, key, version)
            removed += 1
    if removed:
        deps.tracer.line("kept.expired", workspace=workspace, files=removed)
    return following


async def _remove(deps: ExpiryDependencies, workspace: str, owner: str, key: str, version: str | None) -> None:
    write = deps.ids.new("expired")
    await deps.quotas.reserve(workspace, write, owner=owner, size_bytes=0, limit_bytes=0, now=deps.clock.now(), key=key)
    done = await deps.files.delete(workspace, key, write=write, version=version)
    quota = await deps.quotas.close(workspace, write, () if done is None else done.writes)
    if done is not None and not may_come_again(quota, done.writes):
        await deps.files.purge(workspace, key, version=done.version)
