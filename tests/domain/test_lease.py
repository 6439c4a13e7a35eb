"""Leases: one holder at a time, and no write of a holder whose lease has ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.executions.lease import acquire_lease, check_epoch, check_fence, hand_over_slice, release_lease
from ferryman.domain.stale import StaleError
from tests.builders import START, build_execution, build_lease

LENGTH = timedelta(minutes=2)
END = START + LENGTH
QUEUED = build_execution(slice=3)
RUNNING = build_execution(status=Status.RUNNING, started_at=START, lease=build_lease(), slice=3, events=5)
LATER = START + timedelta(seconds=1)


def acquire(current: Execution, *, slice: int = 3, now: datetime = START) -> Execution | None:
    return acquire_lease(current, slice=slice, holder="x", now=now, length=LENGTH)


def test_the_first_lease_starts_the_execution() -> None:
    assert acquire(QUEUED) == replace(
        QUEUED, status=Status.RUNNING, started_at=START, lease=Lease(holder="x", epoch=1, expires_at=END)
    )


def test_a_later_lease_raises_the_epoch_and_keeps_the_start() -> None:
    again = acquire(RUNNING, now=END)
    assert again is not None
    assert (again.started_at, again.lease) == (START, Lease(holder="x", epoch=2, expires_at=END + LENGTH))


@pytest.mark.parametrize("status", [status for status in Status if status.terminal])
def test_an_execution_that_has_ended_is_not_leased(status: Status) -> None:
    assert acquire(replace(QUEUED, status=status)) is None


def test_a_delivery_of_an_earlier_slice_is_late_and_one_of_a_later_slice_is_not() -> None:
    assert [acquire(QUEUED, slice=slice) is not None for slice in (2, 3, 4)] == [False, True, True]


def test_nobody_else_gets_the_lease_before_it_expires() -> None:
    moments = (START, END - timedelta(microseconds=1), END)
    assert [acquire(RUNNING, now=now) is not None for now in moments] == [False, False, True]


def test_a_queued_execution_is_leased_whatever_its_lease_says() -> None:
    assert acquire(replace(RUNNING, status=Status.QUEUED)) is not None


def test_a_write_under_the_same_epoch_is_accepted_even_if_the_lease_was_renewed() -> None:
    renewed = replace(RUNNING, lease=build_lease(expires_at=END + LENGTH))
    assert check_fence(renewed, RUNNING, END) == renewed.lease


FENCED: dict[str, tuple[Execution, Execution, datetime]] = {
    "no lease": (replace(RUNNING, lease=None), RUNNING, START),
    "never claimed": (RUNNING, replace(RUNNING, lease=None), START),
    "a later epoch": (replace(RUNNING, lease=build_lease(epoch=2)), RUNNING, START),
    "an earlier epoch": (RUNNING, replace(RUNNING, lease=build_lease(epoch=2)), START),
    "ended": (replace(RUNNING, status=Status.COMPLETED), RUNNING, START),
    "expired": (RUNNING, RUNNING, END),
}


@pytest.mark.parametrize("write", [check_fence, release_lease, hand_over_slice])
@pytest.mark.parametrize("case", FENCED)
def test_any_other_write_is_stale(case: str, write: Callable[[Execution, Execution, datetime], object]) -> None:
    with pytest.raises(StaleError, match="the lease has"):
        write(*FENCED[case])


def test_a_write_is_accepted_until_the_lease_expires() -> None:
    assert check_fence(RUNNING, RUNNING, END - timedelta(microseconds=1)) == RUNNING.lease


def test_a_call_runs_under_the_epoch_of_its_execution_s_lease() -> None:
    assert check_epoch(RUNNING, 1, END - timedelta(microseconds=1)) is RUNNING


@pytest.mark.parametrize(
    ("current", "epoch", "now"),
    [
        (RUNNING, 2, START),
        (RUNNING, 0, START),
        (RUNNING, 1, END),
        (replace(RUNNING, lease=None), 1, START),
        (replace(RUNNING, status=Status.QUEUED), 1, START),
        (replace(RUNNING, status=Status.FAILED), 1, START),
    ],
)
def test_any_other_call_is_stale(current: Execution, epoch: int, now: datetime) -> None:
    with pytest.raises(StaleError, match="the lease has passed to another holder or expired"):
        check_epoch(current, epoch, now)


def test_a_released_lease_has_expired_and_keeps_its_epoch() -> None:
    released = release_lease(RUNNING, RUNNING, LATER)
    assert released == replace(RUNNING, lease=build_lease(expires_at=LATER))


CLAIMED = replace(RUNNING, pending_model_calls=2, credits_held=Decimal(7))


def test_the_credits_that_the_holder_holds_are_stored_with_the_release() -> None:
    released = release_lease(RUNNING, CLAIMED, LATER)
    assert (released.pending_model_calls, released.credits_held) == (2, 7)


def test_they_are_not_where_a_turn_was_stored_since() -> None:
    released = release_lease(replace(RUNNING, events=9), CLAIMED, LATER)
    assert (released.pending_model_calls, released.credits_held) == (0, 0)


def test_a_hand_over_releases_the_lease_for_the_next_slice() -> None:
    assert hand_over_slice(RUNNING, CLAIMED, LATER) == replace(CLAIMED, slice=4, lease=build_lease(expires_at=LATER))
