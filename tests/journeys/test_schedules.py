"""Schedules through the whole stack: a delay that comes, a timer that was lost, and what the command line shows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.gcp.queue import CloudTasksTimers
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.settings import Settings
from ferryman.stack.environment import QUEUE_CALLER, build_account
from tests.journeys.conftest import Journey, says
from tests.journeys.test_command_line import Shell

WAIT_MAX_S = 60


@pytest.fixture
def ferryman(stack: Mapping[str, Any]) -> Shell:
    return Shell(stack)


async def scheduled(journey: Journey) -> dict[str, Any]:
    """Return the record of the first execution that appears, once it has ended."""
    async with asyncio.timeout(WAIT_MAX_S):
        while not (executions := await journey.client.list_executions()):  # noqa: ASYNC110 - a document's, in another process
            await asyncio.sleep(0.05)
    return await journey.await_end(executions[0]["execution_id"])


async def test_a_delayed_task_runs_by_itself_and_once(journey: Journey) -> None:
    task = await journey.task(says("Good morning."), schedule={"type": "delayed", "after_s": 1})
    record = await scheduled(journey)
    assert (record["status"], record["output"]) == ("completed", "Good morning.")
    stored = await journey.client.get_task(task)
    set_at, came = (datetime.fromisoformat(moment) for moment in (stored["created_at"], record["scheduled_for"]))
    assert timedelta(seconds=1) <= came - set_at < timedelta(seconds=2)
    assert stored["next_fire_at"] is None
    assert len(await journey.client.list_executions()) == 1


async def test_times_that_were_missed_and_whose_timer_was_lost_are_run_once_by_the_sweep(journey: Journey) -> None:
    task = await journey.task(says("Late."))
    tasks, now = FirestoreTasks(journey.clients), datetime.now(UTC)
    stored = await tasks.get(task)
    assert stored is not None
    missed = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    hourly = Schedule(type=ScheduleType.CRON, cron="0 * * * *")
    lost = replace(stored, schedule=hourly, schedule_generation=1, next_fire_at=missed)
    await tasks.update(lost, ["schedule", "schedule_generation", "next_fire_at"], since=stored.updated_at)
    project = journey.stack["project"]
    settings = Settings(
        project=project, queue_caller=build_account(QUEUE_CALLER, project), function_urls=journey.stack["functions"]
    )
    await CloudTasksTimers(journey.clients, settings).sweep(due=now)
    record = await scheduled(journey)
    assert (record["status"], datetime.fromisoformat(record["scheduled_for"])) == ("completed", missed)
    following = (await journey.client.get_task(task))["next_fire_at"]
    assert datetime.fromisoformat(following) > now
    assert len(await journey.client.list_executions()) == 1


async def test_the_command_line_sets_shows_and_removes_a_schedule(ferryman: Shell) -> None:
    options = ("--name", "nightly", "--model", "scripted/none", "--prompt", "Do.")
    task = (await ferryman("task", "create", *options, "--schedule", "0 3 * * *")).out.strip()
    listed = await ferryman("schedules")
    (line,) = [line for line in listed.out.splitlines() if task in line]
    assert (listed.code, "0 3 * * *" in line, "T03:00:00Z" in line) == (0, True, True)
    removed = await ferryman("task", "update", task, "--no-schedule", "--json")
    assert (removed.json["schedule"], removed.json["next_fire_at"]) == (None, None)
    assert task not in (await ferryman("schedules")).out


async def test_the_command_line_says_what_is_wrong_with_a_schedule(ferryman: Shell) -> None:
    options = ("--name", "often", "--model", "scripted/none", "--prompt", "Do.")
    often = await ferryman("task", "create", *options, "--schedule", "0,1 * * * *")
    assert (often.code, "at least 5 minutes between two times on plan pro" in often.err) == (5, True)
    both = await ferryman("task", "create", *options, "--once", "2099-01-01T00:00:00Z", "--delay", "5")
    assert (both.code, "only one of --schedule, --once and --delay" in both.err) == (2, True)
