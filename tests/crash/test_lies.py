"""Firestore that lies: a commit that is carried out and answered with an error is not taken for a fault, nor done twice."""

from __future__ import annotations

import pytest
from google.api_core.exceptions import AlreadyExists
from grpc import StatusCode

from ferryman.domain.execution import Execution
from ferryman.local.clock import START
from tests.crash.bars import broken
from tests.crash.conftest import Cloud
from tests.crash.liar import LIES, Lie
from tests.crash.simulated import Play
from tests.crash.stories import STORIES

LOST = Lie(code=StatusCode.UNAVAILABLE, done=True)
STRIDE = 3
"""`make faults` tells every lie; what is told at one call is not a multiple of this, so that each kind has its turn."""
UNKEYED = next(story for story in STORIES if story.name == "unkeyed")


@pytest.mark.parametrize("call", ["BeginTransaction", "Commit"])
async def test_lied_to_at_any_call_it_still_ends_right(cloud: Cloud, call: str) -> None:
    whole = Play(story=UNKEYED, doors=cloud.ports(), begins=lambda: cloud.liar.begin(None), ends=cloud.liar.end)
    await whole.perform()
    lies = [(call, nth, lie) for nth in range(cloud.liar.seen[call]) for lie in LIES[call]][::STRIDE]
    found = []
    for about in lies:
        play = Play(
            story=UNKEYED,
            doors=cloud.ports(),
            begins=lambda about=about: cloud.liar.begin(about),
            ends=cloud.liar.end,
        )
        left = await play.perform()
        assert cloud.liar.told, f"{about} was not reached"
        found += [f"{call}#{about[1]} {about[2]}: {each}" for each in broken(left)]
    assert found == []


async def test_a_creation_whose_answer_was_lost_is_done_once_and_not_refused(cloud: Cloud) -> None:
    executions = cloud.ports().executions
    made = Execution(id="e", task="t", owner="o", created_at=START)
    cloud.liar.begin(("Commit", 0, LOST))
    await executions.create(made)
    cloud.liar.end()
    assert (await executions.get("e"), cloud.liar.told, cloud.liar.seen["Commit"]) == (made, True, 2)


async def test_another_document_of_that_name_is_left_alone(cloud: Cloud) -> None:
    executions = cloud.ports().executions
    await executions.create(Execution(id="e", task="t", owner="o", created_at=START))
    with pytest.raises(AlreadyExists):
        await executions.create(Execution(id="e", task="t", owner="another", created_at=START))
