"""Titles by the model replay as other executions do, and every part of their record has its receipt."""

from __future__ import annotations

import pytest

from ferryman.domain.conversations.titles import build_title_execution
from ferryman.domain.executions.execution import Status
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError
from tests.builders import build_execution
from tests.loop.conftest import Stage, says
from tests.loop.test_cancel import cancel
from tests.replay.conftest import document, otherwise


@pytest.fixture
def stage() -> Stage:
    """A stage whose execution makes the title after the first answer of a conversation."""
    stage = Stage()
    answer = build_execution(id="a", conversation="conv", question=1, answer=2)
    title = build_title_execution(answer, question="Where?", text="In Harwich.", now=START, trace="")
    fields = {name: getattr(title, name) for name in ("conversation", "titled_answer", "input", "enable_tools")}
    stage.start(**fields)
    return stage


async def test_a_title(stage: Stage) -> None:
    await stage.run(says("The ferry in Harwich"))
    assert stage.execution.status is Status.COMPLETED
    assert await otherwise(stage) == []


async def test_a_title_that_was_cut(stage: Stage) -> None:
    await stage.run(says("The ferry", stop="max_tokens"))
    assert stage.execution.status is Status.FAILED
    assert await otherwise(stage) == []


async def test_a_title_that_another_delivery_finished(stage: Stage) -> None:
    await stage.run(UnavailableError("away"))
    stage.clock.turn(600)
    await stage.run(says("The ferry in Harwich"))
    assert await otherwise(stage) == []


async def test_a_title_that_was_cancelled(stage: Stage) -> None:
    await stage.run(UnavailableError("away"))
    cancel(stage)
    stage.clock.turn(600)
    await stage.run()
    assert stage.execution.status is Status.KILLED
    assert await otherwise(stage) == []


async def test_the_record_tells_which_answer_it_comes_after(stage: Stage) -> None:
    await stage.run(says("The ferry in Harwich"))
    assert document(stage)["execution"]["titled_answer"] == 2
