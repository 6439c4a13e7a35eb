"""Delivery: every change reaches its function, once it is there and content."""

from datetime import timedelta

import pytest
from google.auth import jwt
from google.events.cloud.firestore import DocumentEventData

from emulator.clock import EmulatorClock
from emulator.triggers import Triggers
from emulator.triggers.relay import back_off
from tests.emulator.triggers.conftest import ROOT, START, Changed, created, document

CREATED = "google.cloud.firestore.document.v1.created"
CALLER = "triggers@test.iam.gserviceaccount.com"


def add(triggers, url, name="on_execution", event=CREATED, pattern="executions/{execution}") -> None:
    triggers.add(name, event=event, document=pattern, url=url, caller=CALLER)


async def test_a_change_is_posted_to_the_function(triggers, function, url):
    add(triggers, url)
    triggers.observe(created("executions/x", status="queued"))
    await function.wait_for(1)
    (request,) = function.requests
    assert request.method == "POST"
    assert request.headers["content-type"] == "application/protobuf"
    assert request.headers["ce-type"] == CREATED
    assert request.headers["ce-subject"] == "documents/executions/x"
    assert DocumentEventData.deserialize(function.bodies[0]).value.fields["status"].string_value == "queued"


async def test_an_event_is_delivered_after_the_latency_of_its_cloud(triggers, tokens, function, url, tmp_path):
    clock = EmulatorClock(START)
    late = Triggers(path=tmp_path / "late", clock=clock, tokens=tokens, latency=timedelta(seconds=1))
    await late.start()
    add(late, url)
    late.observe(created("executions/x"))
    await late.idle()
    assert not function.requests
    clock.advance(timedelta(seconds=1))
    await function.wait_for(1)
    await late.close()


async def test_the_function_can_tell_who_calls(triggers, tokens, function, url):
    add(triggers, url)
    triggers.observe(created("executions/x"))
    await function.wait_for(1)
    token = function.requests[0].headers["authorization"].removeprefix("Bearer ")
    assert jwt.decode(token, certs=tokens.certs(), audience=url)["email"] == CALLER


async def test_only_what_was_asked_for_is_delivered(triggers, function, url):
    add(triggers, url)
    triggers.observe(created("tasks/x"))
    triggers.observe(created("executions/x/steps/1"))
    old, new = document("executions/x", a="1"), document("executions/x", a="2")
    triggers.observe(Changed(name=f"{ROOT}/executions/x", before=old, after=new, at=START))
    triggers.observe(Changed(name=f"{ROOT}/executions/x", before=old, after=None, at=START))
    await triggers.idle()
    assert not function.requests


@pytest.mark.parametrize("kind", ["updated", "deleted", "written"])
async def test_each_kind_of_event_has_its_changes(triggers, function, url, kind):
    add(triggers, url, event=f"google.cloud.firestore.document.v1.{kind}")
    old, new = document("executions/x", a="1"), document("executions/x", a="2")
    for before, after in ((None, old), (old, new), (new, None)):
        triggers.observe(Changed(name=f"{ROOT}/executions/x", before=before, after=after, at=START))
    expected = 3 if kind == "written" else 1
    await function.wait_for(expected)
    await triggers.idle()
    assert [request.headers["ce-type"].rsplit(".", 1)[1] for request in function.requests] == [kind] * expected


async def test_two_triggers_hear_of_one_change_as_two_events(triggers, function, url):
    add(triggers, url, name="one")
    add(triggers, url, name="two")
    triggers.observe(created("executions/x"))
    await function.wait_for(2)
    assert len({request.headers["ce-id"] for request in function.requests}) == 2


@pytest.mark.parametrize("status", [302, 400, 403, 500, 503])
async def test_an_event_is_sent_again_until_it_is_acknowledged(triggers, clock, function, url, status):
    add(triggers, url)
    function.answers = [status, status, 204]
    triggers.observe(created("executions/x"))
    for sent, seconds in ((1, 1), (2, 2), (3, 86400)):
        await function.wait_for(sent)
        await triggers.idle()
        assert len(function.requests) == sent
        clock.advance(timedelta(seconds=seconds))
    await triggers.idle()
    assert len(function.requests) == 3
    assert len({request.headers["ce-id"] for request in function.requests}) == 1


async def test_an_event_waits_for_a_function_that_is_not_there_yet(triggers, clock, function, url):
    add(triggers, "http://127.0.0.1:9")
    triggers.observe(created("executions/x"))
    await triggers.idle()
    triggers.remove("on_execution")
    add(triggers, url)
    clock.advance(timedelta(seconds=1))
    await function.wait_for(1)


async def test_an_event_is_given_up_after_a_day(triggers, clock, function, url, caplog):
    add(triggers, url)
    function.answers = [500] * 1000
    triggers.observe(created("executions/x"))
    await triggers.idle()
    clock.advance(timedelta(hours=24))
    await function.wait_for(2)
    await triggers.idle()
    assert "was given up: HTTP status code 500" in caplog.text
    clock.advance(timedelta(hours=1))
    await triggers.idle()
    assert len(function.requests) == 2


async def test_a_function_that_hangs_is_called_again(triggers, clock, function, url):
    add(triggers, url)
    function.free.clear()
    triggers.observe(created("executions/x"))
    await function.wait_for(1)
    clock.advance(timedelta(minutes=10))
    await triggers.idle()
    clock.advance(timedelta(seconds=1))
    await function.wait_for(2)


async def test_a_waiting_event_outlives_the_process(triggers, place, clock, function, url):
    add(triggers, url)
    function.answers = [503]
    triggers.observe(created("executions/x"))
    await function.wait_for(1)
    await triggers.idle()
    add(await place.reopen(), url)
    clock.advance(timedelta(seconds=1))
    await function.wait_for(2)


async def test_an_event_under_way_when_the_process_died_is_sent_again(triggers, place, function, url):
    add(triggers, url)
    function.free.clear()
    triggers.observe(created("executions/x"))
    await function.wait_for(1)
    add(await place.reopen(), url)
    await function.wait_for(2)


async def test_a_removed_trigger_hears_of_nothing(triggers, function, url):
    add(triggers, url)
    triggers.remove("on_execution")
    triggers.observe(created("executions/x"))
    add(triggers, url)
    await triggers.idle()
    assert not function.requests


async def test_removing_a_trigger_that_is_not_there_is_no_error(triggers):
    triggers.remove("nobody")


async def test_a_trigger_for_an_event_that_does_not_exist_is_refused(triggers, url):
    with pytest.raises(ValueError, match="renamed"):
        add(triggers, url, event="google.cloud.firestore.document.v1.renamed")


async def test_a_trigger_that_calls_another_machine_is_refused(triggers):
    with pytest.raises(ValueError, match="not on this machine"):
        add(triggers, "https://example.com")


async def test_changes_in_a_burst_all_arrive(triggers, function, url):
    add(triggers, url)
    for number in range(200):
        triggers.observe(created(f"executions/{number}"))
    await function.wait_for(200)
    await triggers.idle()
    assert {request.headers["ce-document"] for request in function.requests} == {f"executions/{n}" for n in range(200)}


def test_the_wait_doubles_from_one_second_to_ten_minutes():
    waits = [back_off(failures).total_seconds() for failures in range(1, 13)]
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
