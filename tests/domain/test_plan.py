"""Plans: the figures of the two subscriptions."""

from __future__ import annotations

import pytest

from ferryman.domain.owners.plan import GURU, PLANS, PRO


@pytest.mark.parametrize(
    ("plan", "calls", "a_minute", "size"), [(GURU, 20, 10, 512_000), (PRO, 50, 20, 2_097_152)], ids=["guru", "pro"]
)
def test_the_plan_has_the_limits_of_the_specification(plan, calls, a_minute, size):
    assert (plan.calls_per_execution, plan.calls_per_minute, plan.response_bytes) == (calls, a_minute, size)


def test_only_guru_and_pro_can_run_tasks():
    assert set(PLANS) == {"guru", "pro"}
