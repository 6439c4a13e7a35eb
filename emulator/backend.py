"""The backend: the Firestore of a local cloud, ours or Google's emulator, with its changes led to the triggers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import grpc

from emulator.clock import EmulatorClock
from emulator.firestore import NONE, PRODUCTION, FirestoreEmulator
from emulator.firestore.official import find_official, run_official
from emulator.plan import CloudPlan
from emulator.reading import InvalidRequestError
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
async def _expire_regularly(ours: FirestoreEmulator, clock: EmulatorClock) -> AsyncIterator[None]:
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
async def run_firestore(
    plan: CloudPlan, *, clock: EmulatorClock, triggers: Triggers, events: int, trigger: str
) -> AsyncIterator[Backend]:
    """Run the Firestore of a plan; one that is not ours reports its changes to the port `events`, as those of `trigger`.

    Raise InvalidRequestError where it is not installed or not named, OSError and ValueError for a file of indexes that cannot
    be used.
    """
    if plan.firestore == "ours":
        path = plan.folder / "firestore.sqlite" if plan.durable else None
        ours = FirestoreEmulator(path=path, clock=clock.now, indexes=plan.indexes, limits=PRODUCTION if plan.limits else NONE)
        ours.watch(triggers.observe)
        await ours.start()
        try:
            triggers.catch_up(ours.last_commit())
            async with _expire_regularly(ours, clock):
                yield Backend(handlers=(ours.handler(),))
        finally:
            await ours.close()
    elif plan.firestore == "official":
        script = find_official()
        if script is None:
            raise InvalidRequestError(
                "Google's Firestore emulator is not installed here, or Java is not: leave out --firestore official"
            )
        async with run_official(script, f"--functions_emulator={LOOPBACK}:{events}") as (host, group):
            await listen_in(host, plan.project, trigger)
            yield Backend(host=host, group=group)
    else:
        if plan.firestore_host is None:
            raise InvalidRequestError("FIRESTORE_EMULATOR_HOST must say where the Firestore is that --firestore external means")
        await listen_in(plan.firestore_host, plan.project, trigger)
        yield Backend(host=plan.firestore_host)
