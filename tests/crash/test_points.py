"""Every point of every story: killed there, an execution still ends, once, paid for once, with its whole record."""

from __future__ import annotations

import pytest

from ferryman.local.memory import Memory
from tests.crash.bars import broken
from tests.crash.points import targets
from tests.crash.simulated import AWAY, Play, memory_ports
from tests.crash.stories import STORIES, Story


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_killed_at_any_point_it_still_ends_right(story: Story) -> None:
    whole = Play(story=story, doors=memory_ports(Memory()))
    uninterrupted = await whole.perform()
    assert broken(uninterrupted) == []
    found = []
    for number, (point, way) in enumerate(targets(whole.passed)):
        play = Play(story=story, doors=memory_ports(Memory()), target=point, way=way)
        after = await play.perform(together=1 + number % 2, impatient=number % 3 == 0)
        assert play.hit, f"{point} was not reached"
        found += [f"{point} ({way}): {each}" for each in broken(after, uninterrupted)]
    assert found == []


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_with_any_answer_lost_it_still_ends_right(story: Story) -> None:
    whole = Play(story=story, doors=memory_ports(Memory()))
    uninterrupted = await whole.perform()
    found = []
    for number, point in enumerate(whole.passed):
        play = Play(story=story, doors=memory_ports(Memory()), target=point, way=AWAY)
        after = await play.perform(together=1 + number % 2, impatient=number % 3 == 0)
        assert play.hit, f"{point} was not reached"
        found += [f"{point}: {each}" for each in broken(after, uninterrupted)]
    assert found == []
