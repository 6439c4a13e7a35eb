"""Listening: the notifications of one subscription, until its client leaves, may not read any longer, or its time is over.

What changed is found by looking: the lists of tools and prompts every two seconds, files every ten. A subscription counts among
the streams that its owner has open.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from ferryman.catalog.tools import keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.owners.stream import HOLD, RENEWAL
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.api.event_stream import AGAIN_S, RELEASE_S
from ferryman.serving.api.mcp.prompts import list_agent_tasks
from ferryman.serving.api.mcp.resources import parse_uri
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller, check_right
from ferryman.serving.mcp import McpError, Notification, Subscription

CHECK_S = 2.0
"""How often lists are looked at, and whether the client may still read."""

FILES_EVERY = timedelta(seconds=10)
PAGES_MAX = 5
"""Of a thousand files each, which are looked at for changes of the list."""

RESOURCES_MAX = 20
"""Files that one subscription follows; of a longer list, the first are granted."""

Probe = Callable[[], Awaitable[Hashable]]
ListTools = Callable[[], Awaitable[Hashable]]
"""Returns what changes whenever the list of tools does."""

WatchTasks = Callable[[list[str]], AsyncGenerator[Notification, None]]
"""Yields what becomes of tasks, by their ids."""


async def open_subscription(
    deps: ApiDependencies,
    caller: Caller,
    agent: str,
    asking: Mapping[str, Any],
    *,
    list_tools: ListTools,
    watch_tasks: WatchTasks,
    tasks: list[str],
) -> Subscription:
    """Return the subscription to what `asking` names. `tasks` are those of the tasks that the caller may read.

    Raise 403 where the caller may not read, 429 where the owner has as many streams open as may be.
    """
    check_right(Right.READ, caller)
    granted = _grant(deps, asking, tasks)
    probes = _list_probes(deps, caller, agent, granted, list_tools)
    known = [await probe() for _, probe in probes]
    place = await _take_place(deps, caller)
    changes = _watch(deps, caller, probes, known, place)
    followed = watch_tasks(granted["taskIds"]) if granted.get("taskIds") else None
    return Subscription(granted, changes if followed is None else _merge(changes, followed))


def _grant(deps: ApiDependencies, asking: Mapping[str, Any], tasks: list[str]) -> dict[str, Any]:
    granted: dict[str, Any] = {name: True for name in ("toolsListChanged", "promptsListChanged") if asking.get(name)}
    if keeps_files(deps.tools):
        if asking.get("resourcesListChanged"):
            granted["resourcesListChanged"] = True
        uris = [uri for uri in asking.get("resourceSubscriptions", ()) if _is_file(uri)]
        if uris:
            granted["resourceSubscriptions"] = uris[:RESOURCES_MAX]
    if tasks:
        granted["taskIds"] = tasks
    return granted


def _is_file(uri: str) -> bool:
    try:
        parse_uri(uri)
    except McpError:
        return False
    return True


def _list_probes(
    deps: ApiDependencies, caller: Caller, agent: str, granted: Mapping[str, Any], list_tools: ListTools
) -> list[tuple[Notification, Probe]]:
    """Return the notifications that may come, and what is looked at for each of them."""
    probes: list[tuple[Notification, Probe]] = []
    if granted.get("toolsListChanged"):
        probes.append((Notification("notifications/tools/list_changed"), list_tools))

    async def list_prompts() -> Hashable:
        return tuple((task.id, task.name, task.description) for task in await list_agent_tasks(deps, caller, agent))

    if granted.get("promptsListChanged"):
        probes.append((Notification("notifications/prompts/list_changed"), list_prompts))
    every = _Rarely(deps, FILES_EVERY)
    if granted.get("resourcesListChanged"):
        probes.append((Notification("notifications/resources/list_changed"), every.limit(lambda: _list_files(deps, caller))))
    for uri in granted.get("resourceSubscriptions", ()):
        probe = partial(_find_version, deps, caller, parse_uri(uri))
        probes.append((Notification("notifications/resources/updated", {"uri": uri}), every.limit(probe)))
    return probes


class _Rarely:
    """Has probes repeat what they saw until `period` is over."""

    def __init__(self, deps: ApiDependencies, period: timedelta) -> None:
        self._clock, self._period = deps.clock, period

    def limit(self, probe: Probe) -> Probe:
        """Return a probe that asks the store once in the period."""
        seen: tuple[datetime, Hashable] | None = None

        async def limited() -> Hashable:
            nonlocal seen
            now = self._clock.now()
            if seen is None or now - seen[0] >= self._period:
                seen = now, await probe()
            return seen[1]

        return limited


async def _list_files(deps: ApiDependencies, caller: Caller) -> Hashable:
    listed: list[tuple[str, str]] = []
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await deps.files.list(caller.workspace, "", cursor=cursor)
        listed += [(entry.key, entry.version) for entry in page.entries]
        cursor = page.cursor
        if cursor is None:
            break
    return tuple(listed)


async def _find_version(deps: ApiDependencies, caller: Caller, key: str) -> Hashable:
    file = await deps.files.head(caller.workspace, key)
    return None if file is None else file.version


async def _take_place(deps: ApiDependencies, caller: Caller) -> str:
    """Return the name of the owner's stream that the subscription is. Raise 429 where too many are open."""
    place = deps.ids.new("stream")
    async with deps.openings_of.turn(caller.owner.id):
        is_held = await _hold(deps, caller, place)
    if not is_held:
        raise TooManyRequestsError("you have as many streams of events open as your plan allows", after_s=AGAIN_S)
    return place


async def _hold(deps: ApiDependencies, caller: Caller, place: str) -> bool:
    plan, now = deps.plans.get(caller.owner.plan), deps.clock.now()
    most = 1 if plan is None else plan.streams
    return await deps.streams.hold(caller.owner.id, place, now=now, until=now + HOLD, most=most)


async def _watch(
    deps: ApiDependencies, caller: Caller, probes: list[tuple[Notification, Probe]], known: list[Hashable], place: str
) -> AsyncGenerator[Notification, None]:
    """Yield the notification of everything that is not as it was `known`."""
    renewed = deps.clock.now()
    try:
        while True:
            await asyncio.sleep(CHECK_S)
            with suppress(UnavailableError):  # the next probe tells what changed
                if not await still_has_right(deps, caller, Right.READ):
                    return
                if deps.clock.now() - renewed >= RENEWAL:
                    if not await _hold(deps, caller, place):
                        return
                    renewed = deps.clock.now()
                for number, (notification, probe) in enumerate(probes):
                    seen = await probe()
                    if seen != known[number]:
                        known[number] = seen
                        yield notification
    finally:
        await asyncio.shield(_release(deps, caller, place))


async def _release(deps: ApiDependencies, caller: Caller, place: str) -> None:
    with suppress(UnavailableError, TimeoutError):  # it counts until it expires
        async with asyncio.timeout(RELEASE_S):
            await deps.streams.release(caller.owner.id, place)


async def _merge(
    changes: AsyncGenerator[Notification, None], followed: AsyncGenerator[Notification, None]
) -> AsyncGenerator[Notification, None]:
    """Yield what both yield, as it comes, until `changes` ends: the client may not read any longer then."""
    async with aclosing(changes), aclosing(followed):
        waiting: dict[asyncio.Task[Notification | None], AsyncGenerator[Notification, None]] = {
            asyncio.ensure_future(anext(source, None)): source for source in (changes, followed)
        }
        try:
            while waiting:
                done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    source, notification = waiting.pop(task), task.result()
                    if notification is not None:
                        yield notification
                        waiting[asyncio.ensure_future(anext(source, None))] = source
                    elif source is changes:
                        return
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
