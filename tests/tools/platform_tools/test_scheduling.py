"""Schedules that agents set: once however often a call comes, within the owner's limits, with at most what their task has."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.tasks.schedule import SCHEDULED_PER_OWNER_MAX, Schedule, ScheduleType
from ferryman.domain.workspaces.member import Role
from tests.builders import build_task
from tests.tools.platform_tools.rig import CALLER, Rig, read_content, read_failure

LATER = {"name": "later", "prompt": "Say hello.", "after_s": 60}


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return await Rig().fill()


async def add(rig: Rig, **changes: Any) -> dict[str, Any]:
    added: dict[str, Any] = read_content(await rig.call("cron_add", {**LATER, **changes}))
    return added


async def test_a_schedule_is_a_task_with_what_its_own_task_has_and_no_tool_that_schedules(rig: Rig) -> None:
    added = await add(rig)
    task, source = (await rig.tasks.get(added["id"]), await rig.tasks.get("task_ws_a"))
    assert task is not None
    assert source is not None
    assert (task.agent, task.integrations, task.approvals, task.model) == (
        source.agent,
        source.integrations,
        source.approvals,
        source.model,
    )
    assert task.tools == ("orchestrator__search_past_messages", "cron_list", "calculator")
    assert (task.task_prompt, task.workspace, task.schedule) == (
        "Say hello.",
        "ws_a",
        Schedule(type=ScheduleType.DELAYED, after_s=60),
    )
    assert task.next_fire_at == rig.clock.now() + timedelta(seconds=60)


async def test_it_has_no_tool_that_the_execution_which_asks_may_not_call(rig: Rig) -> None:
    asking = rig.memory.executions["exec_ws_a"]
    assert asking.policy is not None
    narrowed = replace(asking.policy, tools=("cron_add", "cron_list"))
    rig.memory.executions["exec_ws_a"] = replace(asking, policy=narrowed)
    task = await rig.tasks.get((await add(rig))["id"])
    assert task is not None
    assert task.tools == ("cron_list",)


async def test_it_says_who_asked_for_it(rig: Rig) -> None:
    await rig.join("eve", Role.ADMIN)
    await rig.run("exec_eve", "ws_a", person="eve")
    added = read_content(await rig.call("cron_add", LATER, user="eve", execution="exec_eve"))
    task = await rig.tasks.get(added["id"])
    assert task is not None
    assert task.description == f"Scheduled by the agent {task.agent} in execution exec_eve, which eve asked for."


async def test_a_call_that_is_delivered_again_adds_nothing_and_answers_the_same(rig: Rig) -> None:
    first = await add(rig)
    rig.clock.turn(30)
    assert await add(rig) == first
    assert len([task for task in rig.memory.tasks.values() if task.schedule]) == 1
    assert len([timer for timer in rig.timers.waiting if timer.fire]) == 1


async def test_another_call_adds_another(rig: Rig) -> None:
    first, second = [read_content(await rig.call("cron_add", LATER, seq=seq)) for seq in (0, 1)]
    assert first["id"] != second["id"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cron": "* * * * *"}, "cron and after_s: only one of them may be set"),
        ({"after_s": None, "cron": "* * * * *"}, "Error: cron: must leave at least "),
        ({"after_s": None, "cron": "61 * * * *"}, "Error: cron: has a bad minute"),
        ({"after_s": None, "at": "tomorrow"}, "Error: at: must be a moment as "),
        ({"after_s": None, "at": "2020-01-01T00:00:00Z"}, "Error: at: must be in the future"),
        ({"after_s": None}, "Error: cron: is required, or at, or after_s"),
        ({"after_s": 0}, "Error: after_s: must be 1 to "),
        ({"prompt": "x" * 2_001}, "Error: prompt: must be at most 2,000 characters, is 2,001"),
        ({"prompt": " "}, "Error: prompt: must not be empty"),
        ({"name": "n" * 101}, "Error: name: must be at most 100 characters"),
        ({"prompt": "Run terraform apply."}, "Error: prompt: asks for "),
    ],
)
async def test_what_no_task_may_have_is_told_by_the_argument_and_nothing_is_stored(
    rig: Rig, changes: dict[str, Any], expected: str
) -> None:
    arguments = {name: value for name, value in {**LATER, **changes}.items() if value is not None}
    assert expected in read_failure(await rig.call("cron_add", arguments))
    assert len(rig.memory.tasks) == 2


async def test_the_limit_of_schedules_is_the_owner_s(rig: Rig) -> None:
    schedule = Schedule(type=ScheduleType.CRON, cron="0 9 * * *")
    for number in range(SCHEDULED_PER_OWNER_MAX):
        task = build_task(id=f"task_{number}", owner="ann", workspace="ws_a", schedule=schedule, created_at=rig.clock.now())
        rig.memory.tasks[task.id] = task
    failure = read_failure(await rig.call("cron_add", LATER))
    assert f"may have at most {SCHEDULED_PER_OWNER_MAX} " in failure


async def test_the_schedules_of_the_workspace_are_listed_and_of_no_other(rig: Rig) -> None:
    added = await add(rig)
    await rig.call("cron_add", LATER, workspace="ws_b")
    (row,) = read_content(await rig.call("cron_list"))["schedules"]
    assert row == added
    assert (row["added_by_agent"], row["enabled"], row["after_s"]) == (True, True, 60)


async def test_a_schedule_is_changed_and_set_again(rig: Rig) -> None:
    added = await add(rig)
    changed = read_content(await rig.call("cron_update", {"id": added["id"], "cron": "0 9 * * MON", "name": "weekly"}, seq=1))
    assert (changed["cron"], changed["name"], "after_s" in changed) == ("0 9 * * MON", "weekly", False)
    assert changed["next_at"] != added["next_at"]
    paused = read_content(await rig.call("cron_update", {"id": added["id"], "enabled": False}, seq=2))
    assert (paused["enabled"], "next_at" in paused) == (False, False)


async def test_a_schedule_is_removed_and_removing_it_again_does_nothing(rig: Rig) -> None:
    added = await add(rig)
    answers = [read_content(await rig.call("cron_remove", {"id": added["id"]}, seq=1))["removed"] for _ in range(2)]
    assert (answers, added["id"] in rig.memory.tasks) == ([True, False], False)


@pytest.mark.parametrize("tool", ["cron_update", "cron_run", "cron_runs", "cron_remove"])
async def test_no_agent_changes_what_people_scheduled_or_what_is_of_another_workspace(rig: Rig, tool: str) -> None:
    arguments = {"id": "task_ws_a", "enabled": False}
    assert read_failure(await rig.call(tool, arguments)).startswith("Error: id: ")
    there = read_content(await rig.call("cron_add", LATER, workspace="ws_b"))
    before = rig.memory.tasks[there["id"]]
    await rig.call(tool, {"id": there["id"], "enabled": False}, seq=1)
    assert rig.memory.tasks[there["id"]] == before


async def test_a_schedule_runs_now_once_for_a_call_and_its_runs_are_listed(rig: Rig) -> None:
    added = await add(rig)
    started = [read_content(await rig.call("cron_run", {"id": added["id"]}, seq=1)) for _ in range(2)]
    assert started[0] == started[1]
    assert [delivery.execution for delivery in rig.queue.waiting] == [started[0]["execution_id"]]
    runs = read_content(await rig.call("cron_runs", {"id": added["id"]}, seq=2))["runs"]
    assert [(run["execution_id"], run["status"]) for run in runs] == [(started[0]["execution_id"], "queued")]


async def test_nothing_is_run_while_a_switch_is_on(rig: Rig) -> None:
    added = await add(rig)
    await rig.dependencies.halts.put("ann", on=True, now=rig.clock.now())
    assert "nothing is started: " in read_failure(await rig.call("cron_run", {"id": added["id"]}, seq=1))


async def test_a_schedule_whose_task_is_gone_cannot_be_added(rig: Rig) -> None:
    del rig.memory.tasks["task_ws_a"]
    assert "the task that asks is not there any more" in read_failure(await rig.call("cron_add", LATER))


async def test_what_the_store_cannot_say_now_is_no_result(rig: Rig) -> None:
    from ferryman.ports.errors import UnavailableError

    class SilentTasks(type(rig.tasks)):  # type: ignore[misc] # the class of a store
        async def get(self, task: str) -> None:
            raise UnavailableError("the store does not answer")

    rig.dependencies = replace(rig.dependencies, tasks=SilentTasks(rig.memory))
    assert (await rig.call("cron_add", LATER)).status_code == 503
