"""Every point of a roll-up: killed there, or with an answer lost, every event is in the weeks once."""

from __future__ import annotations

import pytest

from tests.campaigns.crash.roll_ups import RollUpRun
from tests.contracts.conftest import in_memory, on_google_cloud


@pytest.mark.parametrize("lost", [False, True], ids=["killed", "answer lost"])
@pytest.mark.parametrize("place", [in_memory, on_google_cloud], ids=["memory", "firestore"])
async def test_at_any_point_every_event_is_rolled_up_once(place, lost: bool) -> None:
    async with place() as stores:
        whole = RollUpRun(stores=stores)
        assert await whole.perform() == []
    findings = []
    for number, point in enumerate(whole.passed if place is in_memory else whole.passed[::6]):
        async with place() as stores:
            run = RollUpRun(stores=stores, target=point, lost=lost, together=1 + number % 2)
            findings += [f"{point}: {item}" for item in await run.perform()]
        assert run.hit, f"{point} was not reached"
    assert findings == []
