"""Dispatch: what a worker gets, when, and how often."""

from datetime import timedelta

import pytest
from google.api_core import exceptions
from google.auth import jwt
from google.cloud.tasks_v2.types import Task

PARENT = "projects/test/locations/here"
QUEUE = f"{PARENT}/queues/work"
NAMED = f"{QUEUE}/tasks/slice-0"
EMAIL = "tasks@test.iam.gserviceaccount.com"


async def send(tasks, url, *, request=None, **more) -> Task:
    return await tasks.create_task(parent=QUEUE, task={"http_request": {"url": url, **(request or {})}, **more})


async def test_a_worker_gets_the_request_as_it_was_made(tasks, queue, worker, url):
    request = {"body": b'{"a":1}', "headers": {"Content-Type": "application/json", "X-Own": "1"}, "http_method": "PUT"}
    await send(tasks, url, request=request, name=NAMED)
    await worker.wait_for(1)
    (request,) = worker.requests
    assert request.method == "PUT"
    assert request.url.path == "/run"
    assert request.url.query == "a=1"
    assert worker.bodies == [b'{"a":1}']
    assert request.headers["content-type"] == "application/json"
    assert request.headers["x-own"] == "1"


async def test_a_worker_is_told_of_the_task(tasks, queue, worker, url):
    await send(tasks, url, name=NAMED)
    await worker.wait_for(1)
    headers = worker.requests[0].headers
    assert headers["user-agent"] == "Google-Cloud-Tasks"
    assert headers["x-cloudtasks-queuename"] == "work"
    assert headers["x-cloudtasks-taskname"] == "slice-0"
    assert headers["x-cloudtasks-taskretrycount"] == "0"
    assert headers["x-cloudtasks-taskexecutioncount"] == "0"
    assert headers["x-cloudtasks-tasketa"] == "1767225600.000000"


async def test_what_a_worker_is_told_cannot_be_forged(tasks, queue, worker, url):
    forged = {"X-CloudTasks-TaskRetryCount": "9", "X-CloudTasks-Else": "1", "User-Agent": "me", "Host": "evil.example"}
    await send(tasks, url, request={"headers": forged})
    await worker.wait_for(1)
    headers = worker.requests[0].headers
    assert headers.getlist("x-cloudtasks-taskretrycount") == ["0"]
    assert "x-cloudtasks-else" not in headers
    assert headers.getlist("user-agent") == ["Google-Cloud-Tasks"]
    assert headers["host"].startswith("127.0.0.1:")


async def test_a_body_without_a_type_is_bytes(tasks, queue, worker, url):
    await send(tasks, url, request={"body": b"x"})
    await worker.wait_for(1)
    assert worker.requests[0].headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("audience", ["", "http://tool"])
async def test_a_task_with_an_identity_bears_a_token(tasks, queue, tokens, worker, url, audience):
    identity = {"service_account_email": EMAIL, "audience": audience}
    await send(tasks, url, request={"oidc_token": identity, "headers": {"Authorization": "Bearer forged"}})
    await worker.wait_for(1)
    (authorization,) = worker.requests[0].headers.getlist("authorization")
    claims = jwt.decode(authorization.removeprefix("Bearer "), certs=tokens.certs(), audience=audience or url)
    assert claims["email"] == EMAIL


async def test_a_worker_that_is_content_gets_nothing_more(tasks, queue, place, clock, worker, url):
    worker.answers = [204]
    await send(tasks, url)
    await worker.wait_for(1)
    await place.service.idle()
    clock.advance(timedelta(days=1))
    await place.service.idle()
    assert len(worker.requests) == 1
    assert [task async for task in await tasks.list_tasks(parent=QUEUE)] == []


@pytest.mark.parametrize("status", [302, 400, 429, 500, 503])
async def test_anything_but_success_is_tried_again(tasks, queue, place, clock, worker, url, status):
    worker.answers = [status]
    task = await send(tasks, url)
    await worker.wait_for(1)
    await place.service.idle()
    waiting = await tasks.get_task(name=task.name)
    assert waiting.schedule_time == clock.now() + timedelta(milliseconds=100)
    assert waiting.last_attempt.response_status.code != 0
    assert (waiting.dispatch_count, waiting.response_count) == (1, 1)
    clock.advance(timedelta(milliseconds=100))
    await worker.wait_for(2)
    assert worker.requests[1].url.path == "/run"
    assert worker.requests[1].headers["x-cloudtasks-taskretrycount"] == "1"
    assert worker.requests[1].headers["x-cloudtasks-taskexecutioncount"] == "1"


async def test_a_worker_that_is_not_there_is_tried_again(tasks, queue, place):
    task = await send(tasks, "http://127.0.0.1:9/")
    await place.service.idle()
    waiting = await tasks.get_task(name=task.name)
    assert (waiting.dispatch_count, waiting.response_count) == (1, 0)


async def test_a_worker_that_does_not_answer_in_time_is_tried_again(tasks, queue, place, clock, worker, url):
    worker.free.clear()
    task = await send(tasks, url, dispatch_deadline={"seconds": 15})
    await worker.wait_for(1)
    clock.advance(timedelta(seconds=15))
    await place.service.idle()
    assert (await tasks.get_task(name=task.name)).last_attempt.response_status.code == 4
    clock.advance(timedelta(seconds=1))
    await worker.wait_for(2)


async def test_a_task_for_a_later_day_waits_for_it(tasks, queue, place, clock, worker, url):
    await send(tasks, url, schedule_time=clock.now() + timedelta(days=30))
    clock.advance(timedelta(days=30) - timedelta(microseconds=1))
    await place.service.idle()
    assert not worker.requests
    clock.advance(timedelta(microseconds=1))
    await worker.wait_for(1)


async def test_what_is_due_first_is_sent_first(tasks, worker, url, clock):
    await tasks.create_queue(parent=PARENT, queue={"name": QUEUE, "rate_limits": {"max_concurrent_dispatches": 1}})
    for hours in (3, 1, 2):
        await send(tasks, url, request={"body": str(hours).encode()}, schedule_time=clock.now() + timedelta(hours=hours))
    clock.advance(timedelta(hours=4))
    await worker.wait_for(3)
    assert worker.bodies == [b"1", b"2", b"3"]


async def test_no_more_are_sent_at_once_than_the_queue_allows(tasks, worker, url):
    await tasks.create_queue(parent=PARENT, queue={"name": QUEUE, "rate_limits": {"max_concurrent_dispatches": 3}})
    worker.free.clear()
    for _ in range(9):
        await send(tasks, url)
    await worker.wait_for(3)
    worker.free.set()
    await worker.wait_for(9)
    assert worker.most <= 3


async def test_no_more_are_sent_a_second_than_the_queue_allows(tasks, place, clock, worker, url):
    await tasks.create_queue(parent=PARENT, queue={"name": QUEUE, "rate_limits": {"max_dispatches_per_second": 10}})
    for _ in range(10):
        await send(tasks, url)
    for sent in range(2, 11):
        await worker.wait_for(sent)
        await place.service.idle()
        assert len(worker.requests) == sent
        clock.advance(timedelta(milliseconds=100))


async def test_a_task_is_given_up_after_its_last_attempt(tasks, place, clock, worker, url):
    await tasks.create_queue(parent=PARENT, queue={"name": QUEUE, "retry_config": {"max_attempts": 3}})
    worker.answers = [500] * 9
    task = await send(tasks, url)
    for sent in (1, 2, 3):
        await worker.wait_for(sent)
        await place.service.idle()
        clock.advance(timedelta(hours=1))
    await place.service.idle()
    assert len(worker.requests) == 3
    with pytest.raises(exceptions.NotFound):
        await tasks.get_task(name=task.name)


async def test_a_task_may_be_retried_by_rules_of_its_own(tasks, queue, place, worker, url):
    worker.answers = [500]
    task = await send(tasks, url, retry_config={"max_attempts": 1})
    await worker.wait_for(1)
    await place.service.idle()
    with pytest.raises(exceptions.NotFound):
        await tasks.get_task(name=task.name)


async def test_a_task_can_be_run_before_its_time_in_a_paused_queue(tasks, queue, clock, worker, url):
    await tasks.pause_queue(name=QUEUE)
    task = await send(tasks, url, schedule_time=clock.now() + timedelta(days=1))
    ran = await tasks.run_task(name=task.name)
    assert ran.dispatch_count == 1
    await worker.wait_for(1)


async def test_a_task_deleted_under_way_is_not_tried_again(tasks, queue, place, clock, worker, url):
    worker.free.clear()
    worker.answers = [500]
    task = await send(tasks, url)
    await worker.wait_for(1)
    await tasks.delete_task(name=task.name)
    worker.free.set()
    await place.service.idle()
    clock.advance(timedelta(days=1))
    await place.service.idle()
    assert len(worker.requests) == 1


async def test_a_waiting_task_outlives_the_process(tasks, queue, place, clock, worker, url):
    await send(tasks, url, schedule_time=clock.now() + timedelta(hours=1))
    await place.reopen()
    clock.advance(timedelta(hours=1))
    await worker.wait_for(1)


async def test_a_task_under_way_when_the_process_died_is_sent_again(tasks, queue, place, worker, url):
    worker.free.clear()
    await send(tasks, url, name=NAMED)
    await worker.wait_for(1)
    await place.reopen()
    await worker.wait_for(2)
    assert worker.requests[1].headers["x-cloudtasks-taskretrycount"] == "1"
