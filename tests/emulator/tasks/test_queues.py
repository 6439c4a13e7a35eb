"""Queues: made, listed, changed, paused and purged."""

import pytest
from google.api_core import exceptions
from google.cloud.tasks_v2.types import Queue

PARENT = "projects/test/locations/here"
QUEUE = f"{PARENT}/queues/work"


async def test_a_queue_says_what_its_limits_are(queue):
    assert queue.state == Queue.State.RUNNING
    assert queue.rate_limits.max_dispatches_per_second == 500
    assert queue.rate_limits.max_concurrent_dispatches == 1000
    assert queue.rate_limits.max_burst_size == 100
    assert queue.retry_config.max_attempts == 100
    assert queue.retry_config.min_backoff.total_seconds() == 0.1
    assert queue.retry_config.max_backoff.total_seconds() == 3600
    assert queue.retry_config.max_doublings == 16


async def test_a_queue_is_found_as_it_was_made(tasks, queue):
    assert await tasks.get_queue(name=QUEUE) == queue


async def test_a_name_is_given_once(tasks, queue):
    with pytest.raises(exceptions.AlreadyExists):
        await tasks.create_queue(parent=PARENT, queue={"name": QUEUE})


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": f"{PARENT}/queues/a_b"},
        {"name": "projects/test/locations/there/queues/work"},
        {"name": QUEUE, "rate_limits": {"max_dispatches_per_second": 501}},
        {"name": QUEUE, "rate_limits": {"max_concurrent_dispatches": 5001}},
        {"name": QUEUE, "retry_config": {"max_attempts": -2}},
        {"name": QUEUE, "retry_config": {"min_backoff": {"seconds": 9}, "max_backoff": {"seconds": 8}}},
    ],
)
async def test_a_queue_beyond_the_limits_is_refused(tasks, wrong):
    with pytest.raises(exceptions.InvalidArgument):
        await tasks.create_queue(parent=PARENT, queue=wrong)


async def test_queues_are_listed_page_after_page(tasks):
    for name in "cabde":
        await tasks.create_queue(parent=PARENT, queue={"name": f"{PARENT}/queues/{name}"})
    pager = await tasks.list_queues(request={"parent": PARENT, "page_size": 2})
    assert [queue.name[-1] async for queue in pager] == ["a", "b", "c", "d", "e"]


async def test_a_change_touches_what_its_mask_names(tasks, queue):
    changed = {"name": QUEUE, "rate_limits": {"max_concurrent_dispatches": 7}, "retry_config": {"max_attempts": 9}}
    await tasks.update_queue(queue=changed, update_mask={"paths": ["rate_limits.max_concurrent_dispatches"]})
    queue = await tasks.get_queue(name=QUEUE)
    assert queue.rate_limits.max_concurrent_dispatches == 7
    assert queue.rate_limits.max_dispatches_per_second == 500
    assert queue.retry_config.max_attempts == 100


async def test_a_change_does_not_touch_what_only_the_service_sets(tasks, queue):
    await tasks.pause_queue(name=QUEUE)
    changed = {"name": QUEUE, "state": Queue.State.RUNNING, "retry_config": {"max_attempts": 9}}
    assert (await tasks.update_queue(queue=changed)).state == Queue.State.PAUSED
    assert (await tasks.update_queue(queue=changed, update_mask={"paths": ["state"]})).state == Queue.State.PAUSED


async def test_a_change_of_what_does_not_exist_is_refused(tasks, queue):
    with pytest.raises(exceptions.InvalidArgument):
        await tasks.update_queue(queue={"name": QUEUE}, update_mask={"paths": ["nothing"]})


async def test_a_change_of_a_queue_nobody_made_makes_it(tasks):
    await tasks.update_queue(queue={"name": QUEUE, "retry_config": {"max_attempts": 9}})
    assert (await tasks.get_queue(name=QUEUE)).retry_config.max_attempts == 9


async def test_a_paused_queue_sends_nothing_until_it_is_resumed(tasks, queue, place, worker, url):
    assert (await tasks.pause_queue(name=QUEUE)).state == Queue.State.PAUSED
    await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url}})
    await place.service.idle()
    assert not worker.requests
    await tasks.resume_queue(name=QUEUE)
    await worker.wait_for(1)


async def test_a_pause_outlives_the_process(tasks, queue, place, worker, url):
    await tasks.pause_queue(name=QUEUE)
    again = await place.reopen()
    await again.create_task(parent=QUEUE, task={"http_request": {"url": url}})
    await place.service.idle()
    assert not worker.requests


async def test_a_purge_removes_the_tasks_and_keeps_the_queue(tasks, queue, url):
    await tasks.pause_queue(name=QUEUE)
    for _ in range(3):
        await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url}})
    assert (await tasks.purge_queue(name=QUEUE)).purge_time
    assert [task async for task in await tasks.list_tasks(parent=QUEUE)] == []


async def test_a_deleted_queue_takes_its_tasks_along(tasks, queue, place, worker, url):
    await tasks.pause_queue(name=QUEUE)
    task = await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url}})
    await tasks.delete_queue(name=QUEUE)
    for call in (tasks.get_queue(name=QUEUE), tasks.get_task(name=task.name), tasks.list_tasks(parent=QUEUE)):
        with pytest.raises(exceptions.NotFound):
            await call
    await tasks.create_queue(parent=PARENT, queue={"name": QUEUE})
    await place.service.idle()
    assert not worker.requests
