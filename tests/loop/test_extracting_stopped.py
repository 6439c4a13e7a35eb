"""A cancel or a kill switch while the quarantined model reads: it is broken off, asked nothing more, and paid for once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.run import deliver
from tests.loop.test_extracting import SCRIPT, ExtractingStage, tokens_of
from tests.loop.test_passing import SECRET
from tests.replay.conftest import otherwise

Stop = Callable[[ExtractingStage], None]


def cancel(stage: ExtractingStage) -> None:
    stage.memory.executions["e"] = replace(stage.execution, cancel_requested=True)


def halt(stage: ExtractingStage) -> None:
    stage.memory.halts.add("o")


class Reading(ScriptedModel):
    """A model that never ends its reply as the quarantined one: `stop` is called once it has begun."""

    def __init__(self, stage: ExtractingStage, stop: Stop) -> None:
        super().__init__(SCRIPT)
        self._stage, self._stop = stage, stop
        self.broken_off = 0

    async def reply(self, prompt: Prompt, **named: Any) -> Reply:
        if prompt.tools:
            return await super().reply(prompt, **named)
        self.prompts.append(prompt)
        self._stop(self._stage)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.broken_off += 1
            raise
        raise AssertionError("it never ends by itself")


async def run(stop: Stop) -> tuple[ExtractingStage, Reading]:
    """Return a stage whose execution was stopped while the quarantined model read, and that model."""
    stage = ExtractingStage()
    stage.model = model = Reading(stage, stop)
    async with asyncio.timeout(20):
        await deliver(stage.deps(), "e", slice=0, holder="h")
    return stage, model


async def test_a_cancel_breaks_it_off_and_ends_the_execution() -> None:
    stage, model = await run(cancel)
    assert (stage.execution.status, stage.execution.error) == (Status.KILLED, "cancelled")
    assert (model.broken_off, [bool(prompt.tools) for prompt in model.prompts]) == (1, [True, True, False])


@pytest.mark.parametrize("stop", [cancel, halt])
async def test_its_call_has_settled_without_a_value(stop: Stop) -> None:
    stage, _ = await run(stop)
    ticket = stage.tickets_of[2]
    assert (ticket.tool, ticket.state) == ("extract", TicketState.SETTLED)
    assert ticket.result is not None
    assert not ticket.result.ok
    assert SECRET not in ticket.result.content


@pytest.mark.parametrize("stop", [cancel, halt])
async def test_the_reply_that_is_lost_is_charged_once_at_its_worst(stop: Stop) -> None:
    stage, _ = await run(stop)
    use = stage.results[2].model_use
    assert use is not None
    steps = sum((step.credits for step in stage.memory.steps["e"].values()), Decimal(0))
    assert (use.calls, use.credits > 0, use.input_tokens) == (1, True, 0)
    assert stage.execution.credits_used == steps + use.credits == tokens_of(stage)


async def test_a_replay_of_one_that_was_cancelled_is_the_same() -> None:
    stage, _ = await run(cancel)
    assert await otherwise(stage) == []
