"""The relay for Google's emulator: what it sends is repaired, kept before it is answered, and delivered until it is taken."""

import base64
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from google.cloud.firestore import AsyncClient
from google.events.cloud.firestore import DocumentEventData

from emulator.firestore.official import find_official, run_official
from emulator.triggers import Triggers, event
from emulator.triggers.official import EVERYTHING, UnreadableEventError, listen_in, read_change, relay_app
from emulator.triggers.relay import back_off
from emulator.web import Web, port_of
from tests.emulator.triggers.conftest import ROOT, START, Changed, created, document
from tests.emulator.triggers.test_delivery import CALLER

TIME = "2026-01-01T00:00:00Z"
SCRIPT = find_official()
TRIGGER = "relayed"


def write_body(change: Changed) -> bytes:
    """Write a body as Google's emulator does."""
    return base64.b64encode(event.body(change))


@asynccontextmanager
async def relaying(triggers: Triggers) -> AsyncIterator[int]:
    web = Web()
    port = port_of(web.add(relay_app(triggers, TRIGGER)))
    await web.start()
    try:
        yield port
    finally:
        await web.close()


def add(triggers: Triggers, url: str, kind: str) -> None:
    name = f"google.cloud.firestore.document.v1.{kind}"
    triggers.add(kind, event=name, document="executions/{execution}", url=url, caller=CALLER)


def test_a_body_in_base64_is_read_as_the_change_it_tells_of() -> None:
    old, new = document("executions/é x", a="1"), document("executions/é x", a="2")
    new.update_time.FromJsonString("2026-01-01T00:00:00.000123Z")
    change = read_change(write_body(Changed(name=old.name, before=old, after=new, at=START)), TIME)
    assert (change.name, change.before, change.after) == (old.name, old, new)
    assert change.at.isoformat() == "2026-01-01T00:00:00.000123+00:00"
    deletion = read_change(write_body(Changed(name=old.name, before=old, after=None, at=START)), TIME)
    assert (deletion.before, deletion.after, deletion.at.isoformat()) == (old, None, "2026-01-01T00:00:00+00:00")


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"AA==", b"CgE=", base64.b64encode(b"\n\x02\x08\x01"), base64.b64encode(b"\x08\x01")]
)
def test_what_is_no_event_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableEventError):
        read_change(body, TIME)


def test_an_event_without_a_time_is_refused() -> None:
    with pytest.raises(UnreadableEventError):
        read_change(write_body(created("executions/x")), "")


async def test_an_event_is_taken_with_200_though_its_function_fails_and_sent_until_it_does_not(
    triggers, clock, function, url
) -> None:
    add(triggers, url, "created")
    function.answers = [500]
    new = document("executions/x", a="1")
    new.update_time.FromDatetime(clock.now())
    async with relaying(triggers) as port, httpx.AsyncClient(trust_env=False) as client:
        place = f"http://127.0.0.1:{port}/functions/projects/test/triggers/{TRIGGER}"
        body = write_body(Changed(name=new.name, before=None, after=new, at=clock.now()))
        answer = await client.post(place, content=body, headers={"ce-time": TIME})
        assert answer.status_code == 200
        assert (await client.post(place, content=b"?")).status_code == 400
    await function.wait_for(1)
    await triggers.idle()
    clock.advance(back_off(1))
    await function.wait_for(2)
    assert function.requests[1].headers["ce-source"] == "//firestore.googleapis.com/projects/test/databases/(default)"
    assert DocumentEventData.deserialize(function.bodies[1]).value.name == f"{ROOT}/executions/x"


async def test_an_emulator_that_knows_no_triggers_is_named_in_a_warning(function, url, caplog) -> None:
    function.answers = [404]
    assert not await listen_in(url.removeprefix("http://"), "test", TRIGGER)
    assert "tells of no changes" in caplog.text
    assert await listen_in(url.removeprefix("http://"), "test", TRIGGER)
    assert httpx.Response(200, content=function.bodies[1]).json() == EVERYTHING


@pytest.mark.official
async def test_changes_in_googles_emulator_reach_their_functions_repaired(triggers, function, url, monkeypatch) -> None:
    assert SCRIPT is not None
    project = f"p-{uuid.uuid4().hex[:12]}"
    for kind in ("created", "updated", "deleted"):
        add(triggers, url, kind)
    async with relaying(triggers) as port, run_official(SCRIPT, f"--functions_emulator=127.0.0.1:{port}") as (host, _):
        assert await listen_in(host, project, TRIGGER)
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", host)
        client = AsyncClient(project=project)
        reference = client.document("executions/é x")
        await reference.set({"a": 1, "b": {"c": 1}})
        await client.document("executions/x/steps/1").set({"a": 1})
        await reference.update({"b.c": 2})
        await reference.delete()
        await function.wait_for(3)
        await client._firestore_api.transport.close()
    await triggers.idle()
    got = {request.headers["ce-type"].rpartition(".")[2]: n for n, request in enumerate(function.requests)}
    assert set(got) == {"created", "updated", "deleted"}
    assert len(function.requests) == 3
    for request in function.requests:
        assert request.headers["ce-source"] == f"//firestore.googleapis.com/projects/{project}/databases/(default)"
        assert request.headers["ce-document"] == "executions/%C3%A9 x".replace(" ", "%20")
    data = DocumentEventData.deserialize(function.bodies[got["updated"]])
    assert list(data.update_mask.field_paths) == ["b.c"]
    assert data.old_value.fields["b"].map_value.fields["c"].integer_value == 1
