"""Fair share and backpressure: which executions of an owner are queued and which run, so that no owner takes all slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zlib import crc32

from ferryman.domain.executions.execution import Execution, Status

PAUSE = timedelta(seconds=2)
"""The shortest pause between two deliveries of a started execution that waits for its owner's others."""

QUEUED_PAUSE_MIN = timedelta(seconds=10)
QUEUED_PAUSE = timedelta(seconds=1)
"""The pause of a queued execution, for each one that the owner has queued: however many wait, one a second asks, of the 50 that
the queue dispatches. This is the safety net: an execution that frees its slot wakes the next one."""

DELIVERY_TIME = timedelta(seconds=1)
"""An execution that was queued within this time has its own delivery under way, and needs no other to wake it."""

START_SPACING = timedelta(milliseconds=500)
"""Executions that an owner starts together begin so long after each other: a burst does not take all processors at once."""

GROWTH = 1.3
ANSWER_PAUSE_MAX = timedelta(hours=6)
"""An answer that waits for an earlier one asks after 10 s, and then after 1.3 times as long each time, up to this: the end of
the earlier one, which may wait for a person for weeks, wakes it."""

STARTED_PAUSE_MAX = timedelta(seconds=20)
"""A started execution asks after 2 s, and then after 1.3 times as long each time, up to this: its time limit runs."""


class TooManyQueuedError(Exception):
    """The owner has as many executions queued as the plan allows; nothing was stored."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} executions are queued, which is the most your plan allows; nothing was started")


class NoFreeSlotError(Exception):
    """The owner has as many executions running as the plan allows; `execution` waits, as it was.

    `queued` executions of the owner have not started.
    """

    def __init__(self, execution: Execution, *, queued: int) -> None:
        super().__init__("the owner's running executions are as many as the plan allows")
        self.execution = execution
        self.queued = queued


class AnswerNotNextError(NoFreeSlotError):
    """An answer of the same conversation that was asked for before has not ended; `execution` waits, as it was."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(execution, queued=0)


@dataclass(frozen=True, slots=True)
class Occupancy:
    """One owner's executions that have not ended: the `queued` ones with the time since when, the `running` ones with the end
    of their lease, the `suspended` ones, which have started and hold no slot, with the time since when.

    A renewal of a lease is not written here, so an execution whose lease ended here may still run: its own document decides.
    """

    queued: Mapping[str, datetime] = field(default_factory=dict)
    running: Mapping[str, datetime] = field(default_factory=dict)
    suspended: Mapping[str, datetime] = field(default_factory=dict)

    def enqueue(self, execution: Execution, *, most: int) -> Occupancy:
        """Return the occupancy with one more queued execution. Raise `TooManyQueuedError` where `most` are."""
        # it is there already where an attempt was committed and its answer lost
        if execution.id not in self.queued and len(self.queued) >= most:
            raise TooManyQueuedError(most)
        return replace(self, queued={**self.queued, execution.id: execution.created_at})

    def admits(self, execution: Execution) -> bool:
        """Tell whether `execution` was started here, or has ended: until then it is named here from its start on.

        Its own document does not decide that: an application may have written it (S0's trigger), in any state.
        """
        return execution.status.terminal or any(execution.id in names for names in self._list_all())

    def find_doubtful(self, *, besides: str, now: datetime) -> tuple[str, ...]:
        """Return the running executions whose lease may have ended, `besides` left out, which is about to be claimed."""
        return tuple(name for name, until in self.running.items() if until <= now and name != besides)

    def confirm(self, doubtful: Iterable[str], documents: Iterable[Execution], *, now: datetime) -> Occupancy:
        """Return the occupancy in which those `doubtful` executions that hold no lease by their `documents` are suspended."""
        leases = {document.id: document.lease for document in documents if document.status is Status.RUNNING}
        leased = {name: lease.expires_at for name, lease in leases.items() if lease is not None and lease.expires_at > now}
        running = {**self.running, **leased}
        ended = {name: running.pop(name) for name in doubtful if name not in leased}
        return replace(self, running=running, suspended={**self.suspended, **ended})

    def has_slot(self, execution: Execution, *, most: int) -> bool:
        """Tell whether `execution` may run beside the others; a cancelled one always may, since it only ends."""
        return execution.cancel_requested or len(self.running.keys() - {execution.id}) < most

    def pause_start(self, execution: Execution, *, most: int, now: datetime) -> timedelta:
        """Return after how long the first delivery of `execution`, queued just now, comes: after those queued before it.

        Where not all queued executions may run beside the leased ones, at most `most` together, it is the pause of a delivery
        that found no free slot: the execution that frees one wakes it.
        """
        if len(self.queued) + self._leased(now) > most:
            return compute_pause(execution, queued=len(self.queued), waits=0)
        return START_SPACING * len(self.queued.keys() - {execution.id})

    def find_next(self, *, most: int, now: datetime) -> tuple[str, ...]:
        """Return the queued executions that the free slots are for, the oldest first."""
        waiting = sorted((since, name) for name, since in self.queued.items() if since <= now - DELIVERY_TIME)
        return tuple(name for _, name in waiting[: max(0, most - self._leased(now))])

    def list_unfinished(self) -> tuple[str, ...]:
        """Return all that have not ended: those that have started, then the queued ones, the oldest first."""
        return (*self.running, *self.suspended, *sorted(self.queued, key=lambda name: (self.queued[name], name)))

    def run(self, execution: Execution) -> Occupancy:
        """Return the occupancy with `execution`, which has just acquired its lease, among the running."""
        assert execution.lease is not None, "it was claimed"
        others = self.leave(execution.id)
        return replace(others, running={**others.running, execution.id: execution.lease.expires_at})

    def suspend(self, execution: str, now: datetime) -> Occupancy:
        """Return the occupancy with `execution`, whose lease was given up, among those without a slot."""
        others = self.leave(execution)
        return replace(others, suspended={**others.suspended, execution: now})

    def leave(self, execution: str) -> Occupancy:
        """Return the occupancy without `execution`."""
        return Occupancy(*({name: at for name, at in names.items() if name != execution} for names in self._list_all()))

    def _list_all(self) -> tuple[Mapping[str, datetime], ...]:
        return self.queued, self.running, self.suspended

    def _leased(self, now: datetime) -> int:
        return sum(until > now for until in self.running.values())


def compute_answer_pause(execution: Execution, *, waits: int) -> timedelta:
    """Return the pause of a delivery of an answer whose turn has not come, spread likewise."""
    length = min(ANSWER_PAUSE_MAX, QUEUED_PAUSE_MIN * GROWTH ** min(waits, 40))
    return _spread(execution, length, waits)


def compute_pause(execution: Execution, *, queued: int, waits: int) -> timedelta:
    """Return the pause of a delivery that found no free slot.

    `queued` executions of its owner have not started, and it has waited `waits` times before. The pause is spread over half to
    one and a half times by the execution's id, so that many do not return together.
    """
    if execution.started_at is None:
        length = max(QUEUED_PAUSE_MIN, QUEUED_PAUSE * queued)
    else:
        length = min(STARTED_PAUSE_MAX, PAUSE * GROWTH ** min(waits, 20))
    return _spread(execution, length, waits)


def _spread(execution: Execution, length: timedelta, waits: int) -> timedelta:
    return length * (0.5 + crc32(f"{execution.id}/{waits}".encode()) / 2**32)
