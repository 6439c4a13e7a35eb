"""Delivered: what was sent can be looked at afterwards, but for the token it was sent with."""

import pytest

from tests.emulator.tasks.test_dispatch import EMAIL, NAMED, send


@pytest.fixture
def service(place, tasks):
    return place.service


async def test_what_was_delivered_is_kept_without_its_token(tasks, queue, worker, url, service):
    request = {"body": b'{"a":1}', "headers": {"X-Own": "1"}, "oidc_token": {"service_account_email": EMAIL}}
    await send(tasks, url, request=request, name=NAMED)
    await worker.wait_for(1)
    (delivered,) = service.delivered()
    assert (delivered["name"], delivered["method"], delivered["url"], delivered["body"]) == (NAMED, "POST", url, '{"a":1}')
    assert (delivered["headers"]["x-own"], delivered["headers"]["authorization"]) == ("1", "")
    assert worker.requests[0].headers["authorization"].startswith("Bearer ")


async def test_a_body_that_is_no_text_is_kept_in_base64(tasks, queue, worker, url, service):
    await send(tasks, url, request={"body": b"\xff"})
    await worker.wait_for(1)
    assert service.delivered()[0]["body_base64"] == "/w=="


async def test_what_was_delivered_can_be_forgotten(tasks, queue, worker, url, service):
    await send(tasks, url)
    await worker.wait_for(1)
    service.forget()
    assert service.delivered() == []
