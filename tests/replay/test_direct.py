"""Direct calls replay as other executions do, and every part of their record has its receipt."""

from __future__ import annotations

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.ports.errors import UnavailableError
from tests.contracts.values import build_sealed
from tests.loop.conftest import KEY, Stage, redacted
from tests.loop.test_cancel import cancel
from tests.loop.test_direct import URL, start
from tests.loop.waiting import WaitingStage
from tests.replay.conftest import document, otherwise


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    start(stage)
    return stage


async def test_a_call(stage: Stage) -> None:
    await stage.run()
    assert stage.execution.status is Status.COMPLETED
    assert await otherwise(stage) == []


async def test_a_call_whose_arguments_held_a_credential(stage: Stage) -> None:
    stage.memory.credentials["t"] = {"KEY": build_sealed("KEY")}
    stage.on_scan = redacted
    start(stage, url=f"{URL}?k={KEY}")
    await stage.run()
    assert await otherwise(stage) == []


async def test_a_call_that_was_refused(stage: Stage) -> None:
    start(stage, "http_post")
    await stage.run()
    assert await otherwise(stage) == []


async def test_a_call_that_another_delivery_made(stage: Stage) -> None:
    answer = stage.on_call
    stage.on_call = lambda _: UnavailableError("away")
    await stage.run()
    stage.clock.turn(600)
    stage.on_call = answer
    await stage.run()
    assert stage.execution.status is Status.COMPLETED
    assert await otherwise(stage) == []


async def test_a_call_that_was_cancelled_on_its_way(stage: Stage) -> None:
    stage.on_call = lambda _: UnavailableError("away")
    await stage.run()
    cancel(stage)
    stage.clock.turn(600)
    await stage.run()
    assert stage.execution.status is Status.KILLED
    assert await otherwise(stage) == []


async def test_arguments_that_nobody_can_read(stage: Stage) -> None:
    stage.start(called_tool="http_get", input="[", is_from_client=True)
    await stage.run()
    assert await otherwise(stage) == []


async def test_the_record_tells_which_tool_was_called(stage: Stage) -> None:
    await stage.run()
    assert document(stage)["execution"]["called_tool"] == "http_get"


async def test_a_call_that_waited_for_a_person() -> None:
    stage = WaitingStage()
    start(stage)
    await stage.run()
    await stage.decide()
    await stage.run()
    assert stage.execution.status is Status.COMPLETED
    assert await otherwise(stage) == []
