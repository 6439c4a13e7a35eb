"""Limits on what an owner has: so many things of a kind, so many streams open."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ferryman.domain.owners.limit import LimitReachedError, check_limit
from ferryman.domain.owners.stream import hold_stream
from tests.builders import START

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("count", [2, 3])
def test_one_thing_too_many_is_refused_with_the_limit_by_name(count: int) -> None:
    with pytest.raises(LimitReachedError) as refused:
        check_limit(count, 2, of="credentials", owner="a task")
    assert str(refused.value) == "a task may have at most 2 credentials"


def test_the_limit_is_an_owner_s_unless_it_says_whose() -> None:
    with pytest.raises(LimitReachedError, match=r"^an owner may have at most 0 tasks$"):
        check_limit(0, 0, of="tasks")


def test_the_last_thing_within_the_limit_is_stored() -> None:
    check_limit(1, 2, of="tasks")


OPEN = {"a": START + MINUTE, "b": START + 2 * MINUTE}


def test_a_stream_is_open_until_its_lease_ends() -> None:
    assert hold_stream(OPEN, "c", now=START, until=START + MINUTE, most=3) == {**OPEN, "c": START + MINUTE}


def test_one_stream_too_many_is_not_opened() -> None:
    assert hold_stream(OPEN, "c", now=START, until=START + MINUTE, most=2) is None


def test_a_stream_renews_its_own_lease_whatever_the_number() -> None:
    assert hold_stream(OPEN, "a", now=START, until=START + 3 * MINUTE, most=2) == {**OPEN, "a": START + 3 * MINUTE}


def test_a_stream_whose_lease_has_ended_makes_room_at_that_moment() -> None:
    assert hold_stream(OPEN, "c", now=START + MINUTE, until=START + 3 * MINUTE, most=2) == {
        "b": OPEN["b"],
        "c": START + 3 * MINUTE,
    }
