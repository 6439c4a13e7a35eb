"""subscriptions/listen: what changes, until the client leaves, may not read any longer, or the time is over.

Tasks are watched; lists and files are looked at every ten seconds. A subscription counts among its owner's open streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.stream import HOLD, RENEWAL
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.api.event_stream import AGAIN_S, CHECK_EVERY, RELEASE_S
from ferryman.serving.api.mcp.caller import get_caller, hold_turn
from ferryman.serving.api.mcp.changes import Probe, grant_changes, list_probes
from ferryman.serving.api.mcp.tasks import select_tasks, watch_tasks
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller
from ferryman.serving.mcp import McpExchange, Notification, Subscription

LOOK_S = 10.0
"""How often lists and files are looked at."""

TASKS_MAX = 20
"""Tasks that one subscription follows, whose records are in memory meanwhile; of a longer list, the first are granted."""

CHECK_S = 2.0
"""How often it is read whether the client may still read."""


async def open_subscription(deps: ApiDependencies, exchange: McpExchange, asking: Mapping[str, Any]) -> Subscription:
    """Return a subscription to what `asking` names of the caller's workspace; of anything else nothing is told.

    Raise 429 where the owner has as many streams open as the plan allows.
    """
    caller = get_caller(exchange).caller
    async with hold_turn(deps, caller):
        executions = (await select_tasks(deps, get_caller(exchange), asking.get("taskIds", ())))[:TASKS_MAX]
        granted = grant_changes(deps, asking)
        probes = list_probes(deps, exchange, granted)
        known = [await probe() for _, probe in probes]
    if "taskIds" in asking:
        granted["taskIds"] = [execution.id for execution in executions]
    place = await _take_place(deps, caller)
    sources = _list_sources(deps, exchange, executions, probes, known)
    return Subscription(granted, _guard(deps, caller, place, _merge(sources)))


def _list_sources(
    deps: ApiDependencies,
    exchange: McpExchange,
    executions: Sequence[Execution],
    probes: Sequence[tuple[Notification, Probe]],
    known: list[Hashable],
) -> list[AsyncGenerator[Notification, None]]:
    sources = [watch_tasks(deps, exchange, executions)] if executions else []
    return [*sources, _watch(probes, known)] if probes else sources


async def _watch(probes: Sequence[tuple[Notification, Probe]], known: list[Hashable]) -> AsyncGenerator[Notification, None]:
    """Yield the notification of everything that is not as it was `known`."""
    while True:
        await asyncio.sleep(LOOK_S)
        for number, (notification, probe) in enumerate(probes):
            with suppress(UnavailableError):  # the next probe tells what changed
                seen = await probe()
                if seen != known[number]:
                    known[number] = seen
                    yield notification


async def _guard(
    deps: ApiDependencies, caller: Caller, place: str, notifications: AsyncGenerator[Notification, None]
) -> AsyncGenerator[Notification, None]:
    """Yield `notifications` while the client may read them, and its stream holds its place among the owner's."""
    renewed = deps.clock.now()
    try:
        async with aclosing(notifications):
            waiting = asyncio.ensure_future(anext(notifications, None))
            try:
                while True:
                    await asyncio.wait({waiting}, timeout=CHECK_S)
                    if not await _may_read(deps, caller):
                        return
                    if deps.clock.now() - renewed >= RENEWAL:
                        if not await _hold(deps, caller, place):
                            return
                        renewed = deps.clock.now()
                    if waiting.done():
                        notification = waiting.result()
                        if notification is None:
                            return
                        yield notification
                        waiting = asyncio.ensure_future(anext(notifications, None))
            finally:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
    finally:
        await asyncio.shield(_release(deps, caller, place))


async def _may_read(deps: ApiDependencies, caller: Caller) -> bool:
    """Read it once for all streams of the key in this process; where nobody knows, the client connects again."""
    question = (caller.digest, caller.workspace, None)
    try:
        outcome = await deps.checks.ask(
            question, lambda: still_has_right(deps, caller, Right.READ), now=deps.clock.now(), every=CHECK_EVERY
        )
    except UnavailableError:
        return False
    return outcome.answer


async def _take_place(deps: ApiDependencies, caller: Caller) -> str:
    """Return the name of the owner's stream that the subscription is. Raise 429 where too many are open."""
    place = deps.ids.new("stream")
    async with deps.openings_of.turn(caller.owner.id):
        is_held = await _hold(deps, caller, place)
    if not is_held:
        most = get_plan(deps, caller.owner).streams
        raise TooManyRequestsError(f"you have {most} streams open, which is the most your plan allows", after_s=AGAIN_S)
    return place


async def _hold(deps: ApiDependencies, caller: Caller, place: str) -> bool:
    most, now = get_plan(deps, caller.owner).streams, deps.clock.now()
    return await deps.streams.hold(caller.owner.id, place, now=now, until=now + HOLD, most=most)


async def _release(deps: ApiDependencies, caller: Caller, place: str) -> None:
    with suppress(UnavailableError, TimeoutError):  # it counts until it expires
        async with asyncio.timeout(RELEASE_S):
            await deps.streams.release(caller.owner.id, place)


async def _merge(sources: Sequence[AsyncGenerator[Notification, None]]) -> AsyncGenerator[Notification, None]:
    """Yield what all `sources` yield, as it comes, until they have ended."""
    waiting = {asyncio.ensure_future(anext(source, None)): source for source in sources}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                source, notification = waiting.pop(task), task.result()
                if notification is not None:
                    yield notification
                    waiting[asyncio.ensure_future(anext(source, None))] = source
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for source in sources:
            await source.aclose()
