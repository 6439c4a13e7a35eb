"""Rate limiting: how many calls an execution has made, whether it may make another, and whether it may repeat one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.owners.plan import Plan

WINDOW = timedelta(seconds=60)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRateState:
    """The calls counted so far (S0-96): in total, and in the window that began at `window_opened_at`."""

    calls: int = 0
    window_calls: int = 0
    window_opened_at: datetime | None = None

    @classmethod
    def from_moments(cls, moments: Iterable[datetime]) -> ExecutionRateState:
        """Return the state after calls at `moments`, in order."""
        state = cls()
        for moment in moments:
            state = state.count(moment)
        return state

    def count(self, now: datetime) -> ExecutionRateState:
        """Return the state after one more call at `now`.

        The window is opened by its first call and resets when more than 60 seconds have passed since then (S0-98).
        """
        opened = self.window_opened_at
        if opened is None or now - opened > WINDOW:
            return ExecutionRateState(calls=self.calls + 1, window_calls=1, window_opened_at=now)
        return ExecutionRateState(calls=self.calls + 1, window_calls=self.window_calls + 1, window_opened_at=opened)

    def admit(self, plan: Plan, now: datetime) -> ExecutionRateState:
        """Return the state with this call counted, or `CallRefusedError` when one of the plan's limits is reached (S0-97)."""
        if self.calls >= plan.calls_per_execution:
            raise CallRefusedError(refusal.refuse_execution_rate(plan.calls_per_execution))
        after = self.count(now)
        if after.window_calls > plan.calls_per_minute:
            raise CallRefusedError(refusal.refuse_minute_rate(plan.calls_per_minute, self.count_seconds(now)))
        return after

    def is_used_up(self, plan: Plan) -> bool:
        """Say whether no further call of the execution is admitted, however long it waits."""
        return self.calls >= plan.calls_per_execution

    def compute_wait(self, plan: Plan, now: datetime) -> timedelta:
        """Return the whole seconds until the limit of calls per minute admits another, from `now`; zero where it does."""
        is_full = self.window_calls >= plan.calls_per_minute
        return self.count_seconds(now) * SECOND if is_full else timedelta(0)

    def count_seconds(self, now: datetime) -> int:
        """Return how many whole seconds after `now` the window is over: when more than 60 have passed."""
        if self.window_opened_at is None or now - self.window_opened_at > WINDOW:
            return 0
        return (self.window_opened_at + WINDOW - now) // SECOND + 1


RECENT_CALLS = 10  # how many of the latest calls are compared, the requested one included
SAME_CALLS_MAX = 2  # how often the same call may be among them; the third is refused


def digest_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a digest of tool and arguments; the order of the arguments does not matter."""
    return hashlib.sha256(json.dumps([tool, arguments], sort_keys=True, default=str).encode()).hexdigest()


def check_repeats(digest: str, recent: Sequence[str]) -> None:
    """Raise `CallRefusedError` where the latest calls have this digest twice already."""
    if list(recent)[-(RECENT_CALLS - 1) :].count(digest) >= SAME_CALLS_MAX:
        raise CallRefusedError(refusal.REPEATED_CALL)
