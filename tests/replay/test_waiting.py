"""A replay of an execution that waited for people comes to the same, byte for byte, whatever they decided."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.executions.execution import OWNER, Status
from ferryman.domain.executions.message import canonicalize_prompt
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.replay import run_replay
from ferryman.serving import bundle
from tests.loop.conftest import fetches, says
from tests.loop.waiting import WaitingStage
from tests.replay.conftest import document, otherwise

DAY = timedelta(days=1)


@pytest.fixture
def stage() -> WaitingStage:
    return WaitingStage()


async def wait(stage: WaitingStage, *decisions: DecisionVerdict) -> None:
    """Run it with two calls, each of which waits a day for a decision, and is edited where that is decided."""
    await stage.run(fetches(2), says("done"))
    for verdict in decisions:
        stage.clock.turn(DAY)
        edited = json.dumps({"url": "https://api.coingecko.com/other"}) if verdict is DecisionVerdict.EDIT else ""
        await stage.decide(verdict, edited=edited)
        await stage.run()
    assert stage.execution.status is Status.COMPLETED


@pytest.mark.parametrize(
    "decisions",
    [
        (DecisionVerdict.APPROVE, DecisionVerdict.APPROVE),
        (DecisionVerdict.APPROVE, DecisionVerdict.DENY),
        (DecisionVerdict.EDIT, DecisionVerdict.APPROVE, DecisionVerdict.DENY),
        (DecisionVerdict.EDIT, DecisionVerdict.EDIT, DecisionVerdict.APPROVE, DecisionVerdict.APPROVE),
    ],
    ids=lambda decisions: "-".join(decisions),
)
async def test_what_was_decided(stage: WaitingStage, decisions: tuple[DecisionVerdict, ...]) -> None:
    await wait(stage, *decisions)
    assert await otherwise(stage) == []
    replayed = await run_replay(bundle.parse_record(document(stage)).record)
    assert [canonicalize_prompt(prompt.system, prompt.tools, prompt.messages) for prompt in replayed.prompts] == [
        canonicalize_prompt(prompt.system, prompt.tools, prompt.messages) for prompt in stage.model.prompts
    ]


async def test_what_nobody_decided(stage: WaitingStage) -> None:
    await stage.run(fetches(), says("done"))
    await stage.deliver_next()
    await stage.deliver_next()
    assert await otherwise(stage) == []


async def test_a_cancel_meanwhile(stage: WaitingStage) -> None:
    await stage.run(fetches(), says("done"))
    stage.clock.turn(DAY)
    await MemoryExecutions(stage.memory).cancel("e", by=OWNER, now=stage.clock.now())
    await stage.run()
    assert stage.execution.status is Status.KILLED
    assert await otherwise(stage) == []
