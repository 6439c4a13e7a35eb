"""Quotas of files: never more than the limit, never a byte missed, whatever comes twice or in another order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.files.quota import (
    RESERVATIONS_MAX,
    SETTLED_LIFETIME,
    FileQuota,
    FileReservation,
    QuotaExceededError,
    TooManyWritesError,
    release_bytes,
    reserve_bytes,
    settle_writes,
)
from ferryman.domain.files.writes import StoredWrite

NOW = datetime(2026, 11, 23, tzinfo=UTC)
EMPTY = FileQuota(id="w")
LIMIT = 100


def reserve(quota: FileQuota, write: str, size: int) -> FileQuota:
    return reserve_bytes(quota, write, size_bytes=size, limit_bytes=LIMIT, now=NOW)


def settle(quota: FileQuota, write: str, *, old: int, new: int) -> FileQuota:
    return settle_writes(quota, [StoredWrite(name=write, old_bytes=old, new_bytes=new)])


STEP = st.tuples(
    st.sampled_from(["reserve", "settle", "release"]), st.sampled_from("abcdef"), st.integers(0, 60), st.integers(0, 60)
)


@given(st.lists(STEP, max_size=60))
def test_no_order_of_steps_passes_the_limit_or_loses_a_byte(steps: list[tuple[str, str, int, int]]) -> None:
    quota, files, reserved, settled = EMPTY, dict[str, int](), dict[str, int](), set[str]()
    for step, write, size, most in steps:
        if step == "reserve":
            try:
                quota = reserve(quota, write, size)
            except QuotaExceededError:
                assert size + sum(files.values()) + sum(reserved.values()) > LIMIT
            else:
                reserved.setdefault(write, 0 if write in settled else size)
        elif step == "settle" and write in reserved:
            new = min(most, reserved[write])
            quota = settle(quota, write, old=files.get(write, 0), new=new)
            if write not in settled:
                files[write], reserved[write] = new, 0
            settled.add(write)
        elif step == "release":
            quota = release_bytes(quota, write)
            reserved.pop(write, None)
            settled.discard(write)
        assert (quota.used_bytes, quota.reserved_bytes) == (sum(files.values()), sum(reserved.values()))
        assert quota.used_bytes + quota.reserved_bytes <= LIMIT


def test_a_settled_write_that_nobody_released_is_forgotten_after_a_day() -> None:
    settled = settle(reserve(EMPTY, "a", 10), "a", old=0, new=10)
    almost = reserve_bytes(settled, "b", size_bytes=1, limit_bytes=LIMIT, now=NOW + SETTLED_LIFETIME)
    assert set(almost.reservations) == {"a", "b"}
    later = NOW + SETTLED_LIFETIME + timedelta(seconds=1)
    after = reserve_bytes(reserve(settled, "b", 5), "c", size_bytes=1, limit_bytes=LIMIT, now=later)
    assert (set(after.reservations), after.used_bytes, after.reserved_bytes) == ({"b", "c"}, 10, 6)  # b may be stored


def test_a_smaller_limit_lets_files_be_deleted() -> None:
    full = FileQuota(id="w", used_bytes=LIMIT + 50)
    with pytest.raises(QuotaExceededError, match=r"1 bytes are more than the 0 that are free of the 100"):
        reserve(full, "a", 1)
    assert settle(reserve(full, "a", 0), "a", old=120, new=0).used_bytes == 30


def test_a_replaced_file_counts_by_its_difference() -> None:
    quota = reserve(FileQuota(id="w", used_bytes=50), "a", 40)
    assert settle(quota, "a", old=50, new=40).used_bytes == 40


@pytest.mark.parametrize(("old", "new"), [(0, 41), (10, 51), (-1, 0), (0, -1)])
def test_a_write_keeps_no_more_than_it_reserved(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="no more bytes than it reserved"):
        settle(reserve(EMPTY, "a", 40), "a", old=old, new=new)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=6), st.data())
def test_writes_of_one_file_count_once_by_any_settling(sizes: list[int], data: st.DataObject) -> None:
    quota, writes, old = FileQuota(id="w"), list[StoredWrite](), 0
    for number, size in enumerate(sizes):
        quota = reserve_bytes(quota, f"w{number}", size_bytes=size, limit_bytes=1_000, now=NOW)
        writes.insert(0, StoredWrite(name=f"w{number}", old_bytes=old, new_bytes=size))
        old = size
    # every writer settles its own write and those before it, in any order; some died and come again, or never do
    starts = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=10))
    for start in [*starts, 0]:
        quota = settle_writes(quota, writes[start:])
    assert (quota.used_bytes, quota.reserved_bytes) == (sizes[-1], 0)


def test_a_write_has_no_negative_size() -> None:
    with pytest.raises(ValueError, match="0 bytes or more"):
        reserve(EMPTY, "a", -1)


def test_it_says_whether_waiting_helps() -> None:
    quota = reserve(FileQuota(id="w", used_bytes=30), "a", 60)
    for size, will_fit in ((70, True), (71, False)):
        with pytest.raises(QuotaExceededError) as error:
            reserve(quota, "b", size)
        assert error.value.will_fit is will_fit


def test_writes_under_way_have_a_bound() -> None:
    many = {f"{number}": FileReservation(size_bytes=0, reserved_at=NOW) for number in range(RESERVATIONS_MAX)}
    quota = FileQuota(id="w", reservations=many)
    with pytest.raises(TooManyWritesError, match="1,000 writes"):
        reserve(quota, "one more", 0)
    assert reserve(quota, "7", 1) is quota


def test_a_file_from_before_anybody_counted_takes_no_quota_below_nothing() -> None:
    assert settle(reserve(EMPTY, "a", 0), "a", old=50, new=0).used_bytes == 0
