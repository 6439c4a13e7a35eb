"""Fair share and backpressure: which executions of an owner are queued and which run, so that no owner takes all slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zlib import crc32

from ferryman.domain.executions.execution import Execution, Status

PAUSE = timedelta(seconds=2)
"""The shortest pause between two deliveries of one that has started and waits for its owner's others."""

QUEUED_PAUSE_MIN = timedelta(seconds=10)
QUEUED_PAUSE = timedelta(seconds=1)
"""The pause of one that has not started, for each of the owner's that are queued: however many wait, one a second asks, of the
50 that the queue dispatches. It is the safety net: an execution that frees its slot wakes the next one."""

CLAIMS = timedelta(milliseconds=500)
"""One that was queued within this time has a delivery of its own under way, and needs none to wake it."""

GROWTH = 1.3
STARTED_PAUSE_MAX = timedelta(seconds=20)
"""One that has started asks after 2 s, and then after 1.3 times as long each time, up to this: its time limit runs."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """One owner's executions: the `queued` ones since when, the `running` ones until when their lease lasts at least.

    A lease is renewed without this being written, so one that is past its time here may still run: its own document tells.
    """

    queued: Mapping[str, datetime] = field(default_factory=dict)
    running: Mapping[str, datetime] = field(default_factory=dict)

    def enqueue(self, execution: Execution, *, most: int) -> Occupancy:
        """The occupancy with one more queued execution. Raises `TooManyQueuedError` where `most` are."""
        # one that is there already was stored by an attempt that was committed, unheard
        if execution.id not in self.queued and len(self.queued) >= most:
            raise TooManyQueuedError(most)
        return replace(self, queued={**self.queued, execution.id: execution.created_at})

    def doubtful(self, *, besides: str, now: datetime) -> tuple[str, ...]:
        """The running executions whose lease may have ended; one that is about to be claimed is not asked about."""
        return tuple(name for name, until in self.running.items() if until <= now and name != besides)

    def sure(self, doubtful: Iterable[str], found: Iterable[Execution], *, now: datetime) -> Occupancy:
        """The occupancy once the documents of the `doubtful` ones were `found`: those that hold no lease are gone."""
        leased = {each.id: each.lease.expires_at for each in found if _is_running(each, now) and each.lease is not None}
        gone = set(doubtful) - set(leased)
        return replace(self, running={name: until for name, until in {**self.running, **leased}.items() if name not in gone})

    def has_slot(self, execution: Execution, *, most: int) -> bool:
        """Whether `execution` may run beside the others. One that was cancelled may always: it ends, and does nothing else."""
        return execution.cancel_requested or len(self.running.keys() - {execution.id}) < most

    def has_room(self, *, most: int, now: datetime) -> bool:
        """Whether all that are queued may run beside those that run for sure, of which there may be `most` together."""
        return len(self.queued) + self._leased(now) <= most

    def find_next(self, *, most: int, now: datetime) -> tuple[str, ...]:
        """The queued executions that the slots are for which are free now, the oldest first."""
        waiting = sorted((since, name) for name, since in self.queued.items() if since <= now - CLAIMS)
        return tuple(name for _, name in waiting[: max(0, most - self._leased(now))])

    def run(self, execution: Execution) -> Occupancy:
        """The occupancy with `execution`, which has just taken its lease, no longer queued but running."""
        assert execution.lease is not None, "it was claimed"
        queued = {name: since for name, since in self.queued.items() if name != execution.id}
        return replace(self, queued=queued, running={**self.running, execution.id: execution.lease.expires_at})

    def leave(self, execution: str) -> Occupancy:
        """The occupancy without `execution`."""
        return Occupancy(
            queued={name: since for name, since in self.queued.items() if name != execution},
            running={name: until for name, until in self.running.items() if name != execution},
        )

    def _leased(self, now: datetime) -> int:
        return sum(until > now for until in self.running.values())


def compute_pause(execution: Execution, *, queued: int, waits: int) -> timedelta:
    """How long a delivery that found no free slot waits for the next one.

    `queued` executions of its owner have not started, and it has waited `waits` times before. Spread over half to one and a
    half times by the execution's own name, so that many do not come back together.
    """
    if execution.started_at is None:
        length = max(QUEUED_PAUSE_MIN, QUEUED_PAUSE * queued)
    else:
        length = min(STARTED_PAUSE_MAX, PAUSE * GROWTH ** min(waits, 20))
    return length * (0.5 + crc32(f"{execution.id}/{waits}".encode()) / 2**32)


def _is_running(execution: Execution, now: datetime) -> bool:
    return execution.status is Status.RUNNING and execution.lease is not None and execution.lease.expires_at > now
