"""Idle connections: reused within one execution and host, for seconds, and by nobody else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from ferryman.egress.connection import HostConnection

IDLE_S = 4.0
"""How long a connection waits for the next request: most servers close one after 5 s or more."""

UNREPEATABLE_IDLE_S = 1.0
"""How long it may have waited for a request that must not be sent twice: where the peer closes it at that very moment, nobody
knows whether the request counted."""

SPARE_S = 1.0
"""So long before its own end that a peer announces, a connection is not used any more."""

CONNECTIONS_MAX = 256
"""Idle connections of one process; the oldest makes room."""

Place = tuple[str, str]
"""The execution and the host of a connection."""


@dataclass(slots=True)
class _Idle:
    connection: HostConnection
    place: Place
    since: float
    timer: asyncio.TimerHandle
    loop: asyncio.AbstractEventLoop


class IdleConnections:
    """The idle connections of a process; `clock` counts seconds."""

    def __init__(self, *, most: int = CONNECTIONS_MAX, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._by_place: dict[Place, list[_Idle]] = {}
        self._all: dict[int, _Idle] = {}  # the oldest first
        self._closing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Return how many connections are idle."""
        return len(self._all)

    def take(self, place: Place, *, repeatable: bool) -> HostConnection | None:
        """Return the connection of this place that was used last, if it is still open; `repeatable` tells of the request that
        it is for."""
        while idle := self._by_place.get(place, ())[-1:]:
            (latest,) = idle
            waited_s = self._clock() - latest.since
            is_usable = waited_s < IDLE_S and latest.loop is asyncio.get_running_loop() and latest.connection.is_open
            if is_usable and not repeatable and waited_s >= UNREPEATABLE_IDLE_S:
                return None
            self._remove(latest)
            if is_usable:
                return latest.connection
            self._close(latest)
        return None

    def put(self, place: Place, connection: HostConnection) -> bool:
        """Keep a connection that may be used again; return whether it is: otherwise the caller closes it."""
        announced = connection.idle_max_s
        seconds = IDLE_S if announced is None else min(IDLE_S, announced - SPARE_S)
        if seconds <= 0 or not connection.renew():
            return False
        loop = asyncio.get_running_loop()
        idle = _Idle(connection, place, self._clock(), loop.call_later(seconds, self._expire, id(connection)), loop)
        self._by_place.setdefault(place, []).append(idle)
        self._all[id(connection)] = idle
        while len(self._all) > self._most:
            self._expire(next(iter(self._all)))
        return True

    async def aclose(self) -> None:
        """Close them all."""
        for number in list(self._all):
            self._expire(number)
        await asyncio.gather(*self._closing)

    def _expire(self, number: int) -> None:
        idle = self._all.get(number)
        if idle is not None:
            self._remove(idle)
            self._close(idle)

    def _remove(self, idle: _Idle) -> None:
        idle.timer.cancel()
        del self._all[id(idle.connection)]
        others = self._by_place[idle.place]
        others.remove(idle)
        if not others:
            del self._by_place[idle.place]

    def _close(self, idle: _Idle) -> None:
        if idle.loop is not asyncio.get_running_loop():
            return  # its event loop has ended, and the connection with it
        task = asyncio.ensure_future(idle.connection.aclose())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
