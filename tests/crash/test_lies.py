"""Firestore that lies: a commit that is carried out and answered with an error is not taken for a fault, nor done twice."""

from __future__ import annotations

import pytest

from tests.crash.bars import broken
from tests.crash.conftest import Cloud
from tests.crash.liar import LIES
from tests.crash.simulated import Play
from tests.crash.stories import STORIES

UNKEYED = next(story for story in STORIES if story.name == "unkeyed")


@pytest.mark.parametrize("call", ["BeginTransaction", "Commit"])
async def test_lied_to_at_any_call_it_still_ends_right(cloud: Cloud, call: str) -> None:
    whole = Play(story=UNKEYED, doors=cloud.ports(), begins=lambda: cloud.liar.begin(None), ends=cloud.liar.end)
    await whole.perform()
    lies = [(call, nth, lie) for nth in range(cloud.liar.seen[call]) for lie in LIES[call]]
    found = []
    for about in lies:
        play = Play(
            story=UNKEYED,
            doors=cloud.ports(),
            begins=lambda about=about: cloud.liar.begin(about),  # type: ignore[misc] # bound where it is made
            ends=cloud.liar.end,
        )
        left = await play.perform()
        assert cloud.liar.told, f"{about} was not reached"
        found += [f"{call}#{about[1]} {about[2]}: {each}" for each in broken(left)]
    assert found == []
