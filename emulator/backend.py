"""The backend: the Firestore of a local cloud, ours or Google's emulator, with its changes led to the triggers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import grpc

from emulator.clock import Clock
from emulator.firestore import NONE, PRODUCTION, Firestore
from emulator.firestore.official import find, official
from emulator.plan import Plan
from emulator.reading import Invalid
from emulator.triggers import Triggers
from emulator.triggers.official import listen_in
from emulator.web import LOOPBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A Firestore that answers: ours by handlers for the ports of the local cloud, another at its own address.

    `group` is the group of the processes that were started for it.
    """

    handlers: tuple[grpc.GenericRpcHandler, ...] = ()
    host: str | None = None
    group: int | None = None


EXPIRES = timedelta(minutes=10)
"""How often documents whose time has passed are looked for; production promises a day."""


@asynccontextmanager
async def _expiring(ours: Firestore, clock: Clock) -> AsyncIterator[None]:
    async def look() -> None:
        never = asyncio.Event()
        while True:
            await ours.expire()
            await clock.until(clock.now() + EXPIRES, never)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


@asynccontextmanager
async def firestore(plan: Plan, *, clock: Clock, triggers: Triggers, events: int) -> AsyncIterator[Backend]:
    """The Firestore of a plan; one that is not ours tells its changes to the port `events`.

    Raises Invalid where it is not to be had, OSError and ValueError for a file of indexes that cannot be used.
    """
    if plan.firestore == "ours":
        path = plan.folder / "firestore.sqlite" if plan.durable else None
        ours = Firestore(path=path, clock=clock.now, indexes=plan.indexes, limits=PRODUCTION if plan.limits else NONE)
        ours.watch(triggers.observe)
        await ours.start()
        try:
            triggers.catch_up(ours.last_commit())
            async with _expiring(ours, clock):
                yield Backend(handlers=(ours.handler(),))
        finally:
            await ours.close()
    elif plan.firestore == "official":
        script = find()
        if script is None:
            raise Invalid("Google's Firestore emulator is not installed here, or Java is not: leave out --firestore official")
        async with official(script, f"--functions_emulator={LOOPBACK}:{events}") as (host, group):
            await listen_in(host, plan.project)
            yield Backend(host=host, group=group)
    else:
        if plan.firestore_host is None:
            raise Invalid("FIRESTORE_EMULATOR_HOST must say where the Firestore is that --firestore external means")
        await listen_in(plan.firestore_host, plan.project)
        yield Backend(host=plan.firestore_host)
