"""Answers in conversations replay as other executions do: with what was said before, calls at once, and a summary."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.usage import Usage
from ferryman.domain.records.event import derive_events
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import Stage, fetches, says
from tests.loop.test_cancel import cancel
from tests.replay.conftest import document, otherwise


def say(number: int, text: str) -> Message:
    role = Speaker.USER if number % 2 else Speaker.ASSISTANT
    return Message(conversation="conv", number=number, parent=number - 1, role=role, at=START, content=text)


@pytest.fixture
def stage() -> Stage:
    """A stage whose execution answers the second question of a conversation."""
    stage = Stage()
    stage.start(conversation="conv", input="And?", question=3, answer=4)
    stage.memory.messages["conv"] = {1: say(1, "Where?"), 2: say(2, "In Harwich."), 3: say(3, "And?")}
    return stage


def lengthen(stage: Stage) -> None:
    """Make the first answer so long that it is summarized."""
    stage.memory.messages["conv"][2] = say(2, "In Harwich. " * 2_000)


async def test_an_answer_with_a_history(stage):
    await stage.run(fetches(2), says("Done."))
    assert [message["content"] for message in document(stage)["opening"]["history"]] == ["Where?", "In Harwich."]
    assert await otherwise(stage) == []


async def test_calls_that_were_made_at_once(stage):
    await stage.run(fetches(5), fetches(3), says("Done."))
    assert await otherwise(stage) == []


async def test_an_answer_that_begins_with_a_summary(stage):
    lengthen(stage)
    await stage.run(says("They talked."), fetches(1), says("Done."))
    assert stage.execution.status is Status.COMPLETED
    assert [step["summarizes"] for step in document(stage)["steps"] if "summarizes" in step] == [2]
    assert await otherwise(stage) == []


async def test_an_answer_whose_summary_is_taken_by_the_next_delivery(stage):
    lengthen(stage)
    await stage.run(says("They talked."), UnavailableError("away"))
    stage.clock.turn(600)
    await stage.run(says("Done."))
    assert stage.execution.status is Status.COMPLETED
    assert len(stage.memory.steps["e"]) == 2
    assert await otherwise(stage) == []


async def test_an_answer_that_is_cancelled_after_its_summary(stage):
    lengthen(stage)
    await stage.run(says("They talked."), UnavailableError("away"))
    cancel(stage)
    stage.clock.turn(600)
    await stage.run()
    assert stage.execution.status is Status.KILLED
    assert await otherwise(stage) == []


async def test_a_summary_is_an_event_of_its_own_and_no_text_of_the_answer(stage):
    lengthen(stage)
    await stage.run(says("They talked."), says("Done."))
    steps = [step for _, step in sorted(stage.memory.steps["e"].items())]
    events = list(derive_events(stage.execution, steps, {}))
    assert [event.kind for event in events] == ["started", "summary", "turn", "finished"]
    assert stage.execution.output == "Done."


async def test_an_answer_that_asks_for_more_credits(stage):
    stage.task(max_credits=Decimal(30))
    await stage.run(replace(fetches(1), usage=Usage(input_tokens=9_000)))
    assert "Shall I go on?" in stage.execution.output
    assert await otherwise(stage) == []
