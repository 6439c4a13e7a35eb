"""The documents of kill switches: one that cannot be read is on, for those alone whom it is about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.gcp.halts import find_reason
from tests.builders import START

OFF = {"on": False, "at": START}


@pytest.mark.parametrize("switch", [{}, {"on": False}, {"on": False, "at": "yesterday"}, {"at": START}])
def test_a_switch_that_cannot_be_read_is_on(switch: dict[str, Any]) -> None:
    later = START + timedelta(seconds=1)
    assert find_reason([None, switch], later) == BY_OWNER
    assert find_reason([switch, None], later) == BY_OPERATOR


@pytest.mark.parametrize(("after_s", "reason"), [(-1, BY_OWNER), (0, BY_OWNER), (1, None)])
def test_a_switch_that_is_off_stops_what_was_created_before(after_s: int, reason: str | None) -> None:
    assert find_reason([None, OFF], START + timedelta(seconds=after_s)) == reason


def test_without_a_switch_nothing_is_stopped() -> None:
    assert find_reason([None, None], START) is None
