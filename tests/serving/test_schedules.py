"""Schedules over HTTP: what is stored, what is refused, what sets them again, and that none is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from ferryman.inmemory.clock import START
from ferryman.inmemory.queue import MemoryTimers
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.ports.errors import UnavailableError

from .conftest import TASK, Stage, create_app

HOURLY = {"type": "cron", "cron": "0 * * * *"}


async def store_task(client: httpx.AsyncClient, schedule: Mapping[str, Any] | None = HOURLY, **args: Any) -> dict[str, Any]:
    answer = await client.post("/v1/tasks", json={**TASK, "schedule": schedule, **args})
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def changed(client: httpx.AsyncClient, task: str, **change: Any) -> dict[str, Any]:
    answer = await client.patch(f"/v1/tasks/{task}", json=change)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def timed(stage: Stage) -> list[tuple[int, str]]:
    """Return the generation of each timer that was set, and its time on that day."""
    return [(timer.fire.generation, f"{timer.due:%H:%M:%S}") for timer in stage.timers.waiting if timer.fire]


@pytest.mark.parametrize(
    ("schedule", "next_fire_at"),
    [
        (HOURLY, "2026-11-21T13:00:00Z"),
        ({"type": "once", "at": "2026-11-22T01:30:00+01:00"}, "2026-11-22T00:30:00Z"),
        ({"type": "delayed", "after_s": 3600}, "2026-11-21T13:00:00Z"),
        (None, None),
    ],
)
async def test_a_schedule_is_stored_and_its_next_time_told(
    client: httpx.AsyncClient, stage: Stage, schedule: dict[str, Any] | None, next_fire_at: str | None
) -> None:
    body = await store_task(client, schedule)
    assert (body["next_fire_at"], body["paused"]) == (next_fire_at, None)
    assert (await client.get(f"/v1/tasks/{body['task_id']}")).json() == body
    assert len(timed(stage)) == (0 if schedule is None else 1)


async def test_a_schedule_is_shown_in_utc_with_the_field_of_its_type(client: httpx.AsyncClient) -> None:
    body = await store_task(client, {"type": "once", "at": "2026-11-22T01:30:00+01:00"})
    assert body["schedule"] == {"type": "once", "cron": None, "at": "2026-11-22T00:30:00Z", "after_s": None}


REFUSED: dict[str, tuple[Any, str, str]] = {
    "closer than the plan allows": ({"type": "cron", "cron": "0,1 * * * *"}, "schedule.cron", "at least 5 minutes"),
    "no cron": ({"type": "cron", "cron": "61 * * * *"}, "schedule.cron", "has a bad minute"),
    "no expression": ({"type": "cron"}, "schedule.cron", "is required for type cron"),
    "two ways at once": ({**HOURLY, "after_s": 5}, "schedule.after_s", "is for type delayed only"),
    "a moment that is over": ({"type": "once", "at": "2026-11-21T12:00:00Z"}, "schedule.at", "must be in the future"),
    "a moment without an offset": ({"type": "once", "at": "2027-01-01T00:00:00"}, "schedule.at", "timezone"),
    "the last day": ({"type": "once", "at": "9999-12-31T23:59:59-14:00"}, "schedule.at", "at most 3660 days ahead"),
    "the first day": ({"type": "once", "at": "0001-01-01T00:00:00+14:00"}, "schedule.at", "must be in the future"),
    "no delay": ({"type": "delayed", "after_s": 0}, "schedule.after_s", "must be 1 to"),
    "an endless delay": ({"type": "delayed", "after_s": 10**20}, "schedule.after_s", "must be 1 to"),
    "a type of its own": ({"type": "hourly"}, "schedule.type", "'cron', 'once' or 'delayed'"),
    "an unknown field": ({**HOURLY, "timezone": "CET"}, "schedule.timezone", "is not a field"),
    "text": ("0 9 * * *", "schedule", "should be a valid dictionary"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("verb", ["post", "patch"])
async def test_a_schedule_is_refused_with_the_field_and_the_limit(
    client: httpx.AsyncClient, task: str, stage: Stage, case: str, verb: str
) -> None:
    schedule, field, message = REFUSED[case]
    path, body = (
        ("/v1/tasks", {**TASK, "schedule": schedule}) if verb == "post" else (f"/v1/tasks/{task}", {"schedule": schedule})
    )
    answer = await client.request(verb, path, json=body)
    assert answer.status_code == 422
    messages = {error["field"]: error["message"] for error in answer.json()["errors"]}
    assert message in messages[field]
    assert (list(stage.memory.tasks), stage.timers.waiting) == ([task], [])


async def test_guru_leaves_a_quarter_of_an_hour_between(client: httpx.AsyncClient, stage: Stage) -> None:
    body = {**TASK, "schedule": {"type": "cron", "cron": "*/10 * * * *"}}
    answer = await client.post("/v1/tasks", json=body, headers=stage.owner("gus", plan="guru"))
    message = "must leave at least 15 minutes between two times on plan guru"
    assert answer.json()["errors"] == [{"field": "schedule.cron", "message": message}]


async def test_the_fifty_first_scheduled_task_is_refused(client: httpx.AsyncClient, task: str) -> None:
    first, *_ = [await store_task(client) for _ in range(50)]
    for refused in (
        await client.post("/v1/tasks", json={**TASK, "schedule": HOURLY}),
        await client.patch(f"/v1/tasks/{task}", json={"schedule": HOURLY}),
    ):
        assert (refused.status_code, refused.json()["detail"]) == (409, "an owner may have at most 50 scheduled tasks")
    await changed(client, first["task_id"], schedule={"type": "delayed", "after_s": 60})  # one of the fifty may change
    await changed(client, first["task_id"], schedule=None)
    assert (await changed(client, task, schedule=HOURLY))["next_fire_at"] is not None


async def test_a_change_of_something_else_leaves_the_schedule_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    task = (await store_task(client, {"type": "delayed", "after_s": 60}))["task_id"]
    stage.clock.turn(30)
    assert (await changed(client, task, name="other", enabled=True))["next_fire_at"] == "2026-11-21T12:01:00Z"
    assert timed(stage) == [(1, "12:01:00")]


async def test_a_schedule_that_is_given_again_starts_again(client: httpx.AsyncClient, stage: Stage) -> None:
    delay = {"type": "delayed", "after_s": 60}
    task = (await store_task(client, delay))["task_id"]
    stage.clock.turn(30)
    assert (await changed(client, task, schedule=delay))["next_fire_at"] == "2026-11-21T12:01:30Z"
    assert timed(stage) == [(1, "12:01:00"), (2, "12:01:30")]


async def test_a_task_that_is_turned_off_waits_for_nothing_and_turned_on_waits_again(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    task = (await store_task(client))["task_id"]
    off = await changed(client, task, enabled=False)
    assert (off["next_fire_at"], off["schedule"]["cron"], stage.memory.tasks[task].schedule_generation) == (
        None,
        "0 * * * *",
        2,
    )
    stage.clock.turn(3600)
    assert (await changed(client, task, enabled=True))["next_fire_at"] == "2026-11-21T14:00:00Z"
    assert timed(stage) == [(1, "13:00:00"), (3, "14:00:00")]


async def test_a_task_whose_moment_is_over_can_still_be_changed(client: httpx.AsyncClient, stage: Stage) -> None:
    task = (await store_task(client, {"type": "once", "at": "2026-11-21T12:00:30Z"}))["task_id"]
    stage.memory.tasks[task] = replace(stage.memory.tasks[task], next_fire_at=None)
    stage.clock.turn(60)
    await changed(client, task, name="other")
    await changed(client, task, enabled=False)
    assert (await changed(client, task, enabled=True))["next_fire_at"] is None


@pytest.mark.parametrize("change", [{"enabled": True}, {"schedule": HOURLY}])
async def test_a_paused_task_goes_on_when_its_owner_says_so(
    client: httpx.AsyncClient, stage: Stage, change: dict[str, Any]
) -> None:
    task = (await store_task(client))["task_id"]
    paused = replace(stage.memory.tasks[task], paused="3 scheduled executions in a row failed", next_fire_at=None)
    stage.memory.tasks[task] = paused
    assert (await changed(client, task, name="other"))["paused"] == "3 scheduled executions in a row failed"
    body = await changed(client, task, **change)
    assert (body["paused"], body["next_fire_at"]) == (None, "2026-11-21T13:00:00Z")


class Failing(MemoryTimers):
    """Timers that cannot be set for tasks."""

    async def set(self, *_: Any, **__: Any) -> None:
        raise UnavailableError("busy")


async def test_a_timer_that_cannot_be_set_is_left_to_the_sweep(stage: Stage) -> None:
    timers = Failing()
    async with asking(stage, timers=timers) as client:
        body = await store_task(client)
    assert body["next_fire_at"] is not None
    assert [(timer.fire, timer.due.minute) for timer in timers.waiting] == [(None, 10)]
    assert "task.timer_not_set" in str(stage.log.lines)


class Dying(MemoryTasks):
    """Tasks whose store dies right after it has written."""

    async def create(self, task: Any, **named: Any) -> None:
        await super().create(task, **named)
        raise RuntimeError("died")


async def test_a_task_that_was_stored_as_the_api_died_is_found_by_the_sweep(stage: Stage) -> None:
    async with asking(stage, tasks=Dying(stage.memory)) as client:
        assert (await client.post("/v1/tasks", json={**TASK, "schedule": HOURLY})).status_code == 500
    (task,) = stage.memory.tasks.values()
    assert task.next_fire_at == START.replace(hour=13)
    assert [timer.fire for timer in stage.timers.waiting] == [None]


class Silent(MemoryTimers):
    """A queue that does not answer."""

    async def sweep(self, **_: Any) -> None:
        raise UnavailableError("busy")


async def test_a_schedule_that_nobody_would_look_after_is_not_stored(stage: Stage) -> None:
    async with asking(stage, timers=Silent()) as client:
        assert (await client.post("/v1/tasks", json={**TASK, "schedule": HOURLY})).status_code == 503
    assert stage.memory.tasks == {}


def asking(stage: Stage, **ports: Any) -> httpx.AsyncClient:
    """Return a client of ann's, of an API with these ports."""
    transport = httpx.ASGITransport(app=create_app(replace(stage.deps(), **ports)), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann"))
