"""Tasks: what is accepted, what is refused, and which names are taken."""

import asyncio
from datetime import timedelta

import pytest
from google.api_core import exceptions
from google.cloud.tasks_v2.types import Task

QUEUE = "projects/test/locations/here/queues/work"
NAMED = f"{QUEUE}/tasks/slice-0"


@pytest.fixture
async def paused(tasks, queue):
    return await tasks.pause_queue(name=QUEUE)


async def test_a_task_gets_a_name_a_method_and_a_deadline(tasks, paused, clock, url):
    task = await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url}})
    assert task.name.startswith(f"{QUEUE}/tasks/")
    assert task.http_request.http_method.name == "POST"
    assert task.dispatch_deadline == timedelta(minutes=10)
    assert task.schedule_time == task.create_time == clock.now()


async def test_the_body_is_shown_to_who_asks_for_it(tasks, paused, url):
    task = await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url, "body": b"x"}})
    assert task.http_request.body == b""
    full = await tasks.get_task(request={"name": task.name, "response_view": Task.View.FULL})
    assert full.http_request.body == b"x"


async def test_tasks_are_listed_page_after_page(tasks, paused, url):
    for name in "cab":
        task = {"name": f"{QUEUE}/tasks/{name}", "http_request": {"url": url}}
        await tasks.create_task(parent=QUEUE, task=task)
    pager = await tasks.list_tasks(request={"parent": QUEUE, "page_size": 2})
    assert [task.name[-1] async for task in pager] == ["a", "b", "c"]


async def test_a_deleted_task_is_gone(tasks, paused, url):
    task = await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url}})
    await tasks.delete_task(name=task.name)
    with pytest.raises(exceptions.NotFound):
        await tasks.get_task(name=task.name)
    with pytest.raises(exceptions.NotFound):
        await tasks.delete_task(name=task.name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"schedule_time": {"seconds": 1767225600 + 30 * 86400 + 1}},
        {"dispatch_deadline": {"seconds": 14}},
        {"dispatch_deadline": {"seconds": 1801}},
        {"name": "projects/test/locations/here/queues/other/tasks/a"},
        {"name": f"{QUEUE}/tasks/a.b"},
        {"http_request": {"url": "ftp://127.0.0.1/"}},
        {"http_request": {"url": "https://example.com/"}},
        {"http_request": {"url": "http://169.254.169.254/"}},
        {"http_request": {"url": "http://127.0.0.1@example.com/"}},
        {"http_request": {"url": "http://127.0.0.1/", "http_method": "GET", "body": b"x"}},
        {"http_request": {"url": "http://127.0.0.1/", "headers": {"X": "é"}}},
        {"http_request": {"url": "http://127.0.0.1/", "headers": {"X": "a\r\nY: b"}}},
        {"http_request": {"url": "http://127.0.0.1/", "headers": {"X Y": "a"}}},
        {"dispatch_deadline": {"seconds": 300_000_000_000}},
        {"http_request": {"url": "http://127.0.0.1/", "body": b"x" * 102400}},
        {"http_request": {"url": "http://127.0.0.1/", "oidc_token": {"audience": "x"}}},
    ],
)
async def test_a_task_that_no_queue_takes_is_refused(tasks, paused, wrong):
    with pytest.raises(exceptions.InvalidArgument):
        await tasks.create_task(parent=QUEUE, task={"http_request": {"url": "http://127.0.0.1/"}, **wrong})


async def test_a_task_may_wait_for_30_days(tasks, paused, clock):
    when = clock.now() + timedelta(days=30)
    task = {"http_request": {"url": "http://127.0.0.1/"}, "schedule_time": when}
    assert (await tasks.create_task(parent=QUEUE, task=task)).schedule_time == when


async def test_a_queue_nobody_made_takes_no_task(tasks):
    with pytest.raises(exceptions.NotFound):
        await tasks.create_task(parent=QUEUE, task={"http_request": {"url": "http://127.0.0.1/"}})


async def test_what_is_not_supported_is_refused(tasks, paused):
    for task in (
        {"app_engine_http_request": {}},
        {"http_request": {"url": "http://127.0.0.1/", "oauth_token": {"service_account_email": "a@b"}}},
    ):
        with pytest.raises(exceptions.MethodNotImplemented):
            await tasks.create_task(parent=QUEUE, task=task)


async def create_named(tasks, url) -> Task:
    return await tasks.create_task(parent=QUEUE, task={"name": NAMED, "http_request": {"url": url}})


async def test_a_name_is_taken_while_the_task_waits(tasks, paused, url):
    await create_named(tasks, url)
    with pytest.raises(exceptions.AlreadyExists):
        await create_named(tasks, url)


async def test_a_name_is_taken_for_an_hour_after_the_task_was_done(tasks, queue, place, clock, worker, url):
    await create_named(tasks, url)
    await worker.wait_for(1)
    await place.service.idle()
    with pytest.raises(exceptions.NotFound):
        await tasks.get_task(name=NAMED)
    clock.advance(timedelta(minutes=59))
    with pytest.raises(exceptions.AlreadyExists):
        await create_named(tasks, url)
    clock.advance(timedelta(minutes=1))
    await create_named(tasks, url)
    await worker.wait_for(2)


@pytest.mark.parametrize("end", ["delete_task", "purge_queue", "delete_queue"])
async def test_a_name_is_taken_however_the_task_ended(tasks, paused, url, end):
    await create_named(tasks, url)
    await getattr(tasks, end)(name=NAMED if end == "delete_task" else QUEUE)
    if end == "delete_queue":
        await tasks.create_queue(parent=QUEUE.split("/queues/")[0], queue={"name": QUEUE})
    with pytest.raises(exceptions.AlreadyExists):
        await create_named(tasks, url)


async def test_a_taken_name_outlives_the_process(tasks, paused, place, url):
    await create_named(tasks, url)
    await tasks.delete_task(name=NAMED)
    again = await place.reopen()
    with pytest.raises(exceptions.AlreadyExists):
        await create_named(again, url)


async def test_of_many_who_want_one_name_one_gets_it(tasks, paused, url):
    results = await asyncio.gather(*(create_named(tasks, url) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(result, Task) for result in results) == 1
    assert sum(isinstance(result, exceptions.AlreadyExists) for result in results) == 19
