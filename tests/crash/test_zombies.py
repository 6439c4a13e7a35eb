"""Zombies: whoever stood still while another took over writes nothing and sends nothing any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.crash.bars import broken
from tests.crash.ground import Ports, furnish
from tests.crash.points import Point
from tests.crash.simulated import FROZEN, Play, record
from tests.crash.stories import STORIES, Story

NAMED = {story.name: story for story in STORIES}


def sending(point: Point) -> bool:
    """Whether this is the very moment of sending: no look at a clock comes between, and the other end knows no epoch."""
    return point.side == "before" and point.crossing in ("model.reply", "gate.send")


@pytest.mark.parametrize("name", ["unkeyed", "keyed", "cancel", "hand-over", "several"])
async def test_who_thaws_after_another_took_over_writes_and_sends_nothing(house, name: str) -> None:
    make, stride = house
    story: Story = NAMED[name]
    whole = Play(story=story, doors=make())
    await whole.perform()
    points = [point for point in whole.passed if not sending(point)]
    found = []
    for point in points[:: stride * (1 if stride == 1 else 9 if len(points) > 100 else 3)]:
        play = Play(story=story, doors=make(), target=point, way=FROZEN)
        left = await play.perform()
        assert play.thawed is not None, f"{point} was not reached"
        if play.thawed[0] != left:
            found.append(f"{point}: written after the thaw")
        if play.thawed[1] != len(play.tally.lines):
            found.append(f"{point}: sent after the thaw: {play.tally.lines[play.thawed[1] :]}")
        found += [f"{point}: {each}" for each in broken(left)]
    assert found == []


@pytest.mark.parametrize("times", [2, 4, 8])
@pytest.mark.parametrize("name", ["unkeyed", "several"])
async def test_of_deliveries_of_one_slice_at_once_one_runs(
    house: tuple[Callable[[], Ports], int], name: str, times: int
) -> None:
    play = Play(story=NAMED[name], doors=house[0]())
    await furnish(play.doors, play.story, sealing=False)
    acknowledged = await asyncio.gather(*(play.deliver(0) for _ in range(times)))
    left = await record(play.doors, play.story, play.tally)
    assert sum(acknowledged) == 1
    assert len(left.asked) == len(left.steps)
    assert broken(left) == []
