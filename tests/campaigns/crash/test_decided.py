"""What two devices are answered about the same call has to be what is stored: answers that are not are found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.inmemory.memory import Memory
from tests.campaigns.crash.decided import DeviceAnswer, find_contradicted
from tests.campaigns.crash.deciding import CONFLICT
from tests.campaigns.crash.invariants import Record
from tests.campaigns.crash.scenarios import SCENARIOS
from tests.campaigns.crash.simulated import SimulatedRun, memory_ports

CONTESTED = next(scenario for scenario in SCENARIOS if scenario.contested)


@pytest.fixture
async def record() -> Record:
    """A run in which one device approves and the other one denies."""
    return await SimulatedRun(scenario=CONTESTED, ports=memory_ports(Memory())).perform()


def split(record: Record) -> tuple[DeviceAnswer, list[DeviceAnswer]]:
    """Return an answer of a device whose decision counts, and all others."""
    counts = next(answer for answer in record.answers if answer.state == ApprovalState.APPROVED)
    return counts, [answer for answer in record.answers if answer is not counts]


def find(record: Record, *answers: DeviceAnswer) -> list[str]:
    return find_contradicted(record.approvals, answers)


async def test_of_two_devices_that_decide_otherwise_exactly_one_is_refused(record: Record) -> None:
    assert find(record, *record.answers) == []
    for approval in record.approvals:
        states = [answer.state for answer in record.answers if answer.approval == approval.id]
        assert sorted(states) == sorted([approval.state.value, CONFLICT])


async def test_a_state_that_is_not_the_stored_one_is_found(record: Record) -> None:
    first, others = split(record)
    denied = replace(first, verdict=DecisionVerdict.DENY, state=ApprovalState.DENIED.value)
    assert find(record, denied, *others) == ["contradicted: device 0 is answered denied of an approval that is approved"]


async def test_a_refusal_of_what_was_decided_is_found(record: Record) -> None:
    first, others = split(record)
    expected = ["contradicted: device 0 is answered conflict of an approval that is approved"]
    assert find(record, replace(first, state=CONFLICT), *others) == expected


async def test_a_device_that_was_never_answered_is_found(record: Record) -> None:
    first, others = split(record)
    assert find(record, *others) == [f"contradicted: {first.approval} is approved, and answered to 1 devices"]
