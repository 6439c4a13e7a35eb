"""Admission: what an application wrote starts a run under the limits that the API holds, or says in its own place why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.owners.plan import PRO
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.admission import admit_request
from ferryman.loop.run import deliver
from tests.builders import START, build_execution
from tests.loop.conftest import Stage, says


async def ask(stage: Stage, name: str = "order-42", **fields: Any) -> bool:
    """Write a request for the task `t`, and deliver it."""
    stage.memory.requests[name] = {"task": "t", **fields}
    return await deliver(stage.deps(), name, slice=0, holder="h")


def refusal(stage: Stage, name: str = "order-42") -> str:
    assert name not in stage.memory.executions
    return str(stage.memory.refused[name]["error"])


async def test_a_task_is_enough_for_a_run(stage: Stage) -> None:
    stage.model = ScriptedModel([says("Done.")])
    assert await ask(stage)
    ended = stage.memory.executions["order-42"]
    assert (ended.status, ended.owner, ended.output) == (Status.COMPLETED, "o", "Done.")


async def test_input_reaches_the_model_and_labels_do_not(stage: Stage) -> None:
    stage.model = ScriptedModel([says("Done.")])
    await ask(stage, owner="o", input="In Paris.", labels={"color": "vermilion"})
    prompt = str(stage.model.prompts[0].messages)
    assert ("In Paris." in prompt, "vermilion" in prompt) == (True, False)
    assert stage.memory.executions["order-42"].labels == {"color": "vermilion"}


async def test_everything_else_that_it_says_is_ignored(stage: Stage) -> None:
    stage.model = ScriptedModel([says("Done.")])
    forged = {"status": "completed", "credits_used": -500, "usage": {}, "lease": {"epoch": 9}, "slice": 7, "policy": {}}
    await ask(stage, **forged, id="e", admitted=True, output="all yours")
    ended = stage.memory.executions["order-42"]
    assert (ended.slice, ended.output, ended.credits_used > 0) == (0, "Done.", True)


async def test_a_second_delivery_starts_no_second_run(stage: Stage) -> None:
    stage.model = ScriptedModel([says("Done.")])
    await ask(stage)
    assert await deliver(stage.deps(), "order-42", slice=0, holder="another")
    assert len(stage.model.prompts) == 1


async def test_one_that_another_delivery_has_just_admitted_may_be_claimed(stage: Stage) -> None:
    stage.memory.requests["order-42"] = {"task": "t"}
    assert await admit_request(stage.deps(), "order-42")
    assert await admit_request(stage.deps(), "order-42")  # which reads the fields of the execution
    assert "order-42" in stage.memory.executions
    assert not stage.memory.refused


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"task": "unknown"}, "task: there is no task unknown"),
        ({"owner": "mallory"}, "owner: is not the owner of task t, which belongs to another owner"),
        ({"task": 7, "input": 7}, "task: must be a text: the id of a task; input: must be a text"),
    ],
)
async def test_an_error_names_the_field_in_the_document_itself(stage: Stage, fields: dict[str, Any], error: str) -> None:
    assert await ask(stage, **fields)
    assert refusal(stage) == error
    assert not stage.model.prompts


async def test_a_disabled_task_is_named(stage: Stage) -> None:
    stage.task(enabled=False)
    await ask(stage)
    assert refusal(stage) == "task: t is disabled or deleted; enable it first"


async def test_an_owner_without_a_plan_starts_nothing(stage: Stage) -> None:
    stage.memory.owners["o"] = replace(stage.memory.owners["o"], plan="none")
    await ask(stage)
    assert refusal(stage) == "nothing is started: the owner's plan cannot run tasks"


@pytest.mark.parametrize("whose", ["o", None])
async def test_a_kill_switch_starts_nothing(stage: Stage, whose: str | None) -> None:
    stage.memory.halts.add(whose)
    await ask(stage)
    assert refusal(stage).startswith("nothing is started: stopped by")


async def test_the_limit_of_queued_executions_holds(stage: Stage) -> None:
    most = PRO.executions_queued
    stage.memory.occupancy["o"] = Occupancy(queued={f"q-{number}": START for number in range(most)})
    await ask(stage)
    assert refusal(stage) == f"{most} executions are queued, which is the most your plan allows; nothing was started"


async def test_the_running_slots_hold(stage: Stage) -> None:
    for number in range(PRO.executions_running):
        name = f"r-{number}"
        stage.memory.executions[name] = build_execution(id=name)
        await stage.deps().executions.claim(name, slice=0, holder="h", now=stage.clock.now(), lease=stage.deps().lease)
    assert await ask(stage)
    assert stage.memory.executions["order-42"].status is Status.QUEUED
    assert [(delivery.execution, delivery.waits) for delivery in stage.queue.waiting] == [("order-42", 1)]


async def test_credits_run_out_for_it_as_for_any_other(stage: Stage) -> None:
    stage.task(max_credits_month=stage.memory.tasks["t"].max_credits / 2)
    await ask(stage)
    ended = stage.memory.executions["order-42"]
    assert (ended.status, "credits" in str(ended.error)) == (Status.FAILED, True)


async def test_a_document_that_is_gone_is_dropped(stage: Stage) -> None:
    assert await deliver(stage.deps(), "order-42", slice=0, holder="h")
    assert "order-42" not in stage.memory.executions


async def test_what_was_refused_is_not_asked_again(stage: Stage) -> None:
    await ask(stage, task="unknown")
    stage.memory.tasks["unknown"] = replace(stage.memory.tasks["t"], id="unknown")
    assert await deliver(stage.deps(), "order-42", slice=0, holder="h")
    assert refusal(stage) == "task: there is no task unknown"
