"""Every point of every change to who may do what: killed there, or with the answer lost, it is done once, and wholly."""

from __future__ import annotations

import pytest

from tests.campaigns.crash.people import PeopleRun
from tests.campaigns.crash.stories import STORIES
from tests.contracts.conftest import in_memory, on_google_cloud

EVERY_STORY = pytest.mark.parametrize("story", STORIES)
STEP = 5
"""Of the points on the Firestore protocol, every fifth; `make crash` meets all."""


@EVERY_STORY
@pytest.mark.parametrize("lost", [False, True], ids=["killed", "answer lost"])
async def test_at_any_point_what_was_asked_for_is_done_once(story: str, *, lost: bool) -> None:
    async with in_memory() as stores:
        whole = PeopleRun(stores=stores, story=story)
        assert await whole.perform() == []
    findings = []
    for point in whole.passed:
        async with in_memory() as stores:
            run = PeopleRun(stores=stores, story=story, target=point, lost=lost)
            findings += [f"{point}: {item}" for item in await run.perform()]
        assert run.hit, f"{point} was not reached"
    assert findings == []


@EVERY_STORY
async def test_on_the_protocol_of_firestore_what_was_asked_for_is_done_once(story: str) -> None:
    async with on_google_cloud() as stores:
        whole = PeopleRun(stores=stores, story=story)
        assert await whole.perform() == []
    findings = []
    for number, point in enumerate(whole.passed[::STEP]):
        async with on_google_cloud() as stores:
            run = PeopleRun(stores=stores, story=story, target=point, lost=number % 2 == 1)
            findings += [f"{point}: {item}" for item in await run.perform()]
        assert run.hit, f"{point} was not reached"
    assert findings == []
