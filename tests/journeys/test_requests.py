"""Runs from Firestore: an application writes a document with Google's own client, and reads in it what became of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_delivery import HOST, WAIT_MAX_S, deliver_again


async def write(journey: Journey, fields: Mapping[str, Any], name: str = "") -> Any:
    """Create the document, and return its reference."""
    executions = journey.clients.firestore().collection("executions")
    reference = executions.document(name or f"order-{uuid4().hex[:8]}")
    await reference.create(dict(fields))
    return reference


async def read_end(reference: Any) -> Mapping[str, Any]:
    """Return the fields of the document once they tell of an end."""
    async with asyncio.timeout(WAIT_MAX_S):
        while True:
            fields: Mapping[str, Any] = (await reference.get()).to_dict()
            if "completed_at" in fields and fields["completed_at"] is not None:
                return fields
            await asyncio.sleep(0.05)


async def test_a_document_with_a_task_alone_starts_a_run(journey: Journey) -> None:
    reference = await write(journey, {"task": await journey.task(says("Done."))})
    fields = await read_end(reference)
    assert (fields["status"], fields["output"]) == ("completed", "Done.")
    assert fields["owner"] == (await journey.client.get_me())["owner"]
    assert (await journey.client.get_execution(reference.id))["output"] == "Done."


async def test_owner_input_and_labels_may_be_given_and_all_else_is_ignored(journey: Journey) -> None:
    task, owner = await journey.task(says("Done.", expect=("In Paris.",))), (await journey.client.get_me())["owner"]
    request = {"task": task, "owner": owner, "input": "In Paris.", "labels": {"order": "42"}}
    forged = {"credits_used": -500, "status": "completed", "usage": {"input_tokens": -1}, "lease": {"epoch": 7}, "slice": 9}
    before = await journey.client.get_me()
    fields = await read_end(reference := await write(journey, {**request, **forged, "admitted": True, "policy": "everything"}))
    record = await journey.client.get_execution(reference.id)
    assert (fields["labels"], record["labels"], record["input"]) == ({"order": "42"}, {"order": "42"}, "In Paris.")
    assert float(record["credits_used"]) > 0
    assert float((await journey.client.get_me())["credits_used"]) > float(before["credits_used"])


async def test_one_event_delivered_twice_starts_one_run(journey: Journey) -> None:
    await journey.serve(HOST)
    task = await journey.task(
        asks(call("http_get", url=journey.url(HOST))), says("Done."), tools=["http_get"], integrations=["coingecko"]
    )
    reference = await write(journey, {"task": task})
    ended = await read_end(reference)
    await deliver_again(journey, reference.id)
    assert (await reference.get()).to_dict() == ended
    assert len(await journey.received(HOST)) == 1


@pytest.mark.parametrize(
    ("fields", "name", "error"),
    [
        ({}, "", "task: is missing; it must be the id of a task"),
        ({"task": "task_unknown"}, "", "task: there is no task task_unknown"),
        ({"task": 7, "input": 7}, "", "task: must be a text: the id of a task; input: must be a text"),
        ({"task": "t"}, f"café {uuid4().hex}", "id: the document's name must have at most 64 characters"),
    ],
    ids=["nothing", "an unknown task", "two fields", "an odd name"],
)
async def test_what_is_wrong_is_said_in_the_document(
    journey: Journey, fields: Mapping[str, Any], name: str, error: str
) -> None:
    ended = await read_end(await write(journey, fields, name))
    assert ended["status"] == "failed"
    assert ended["error"].startswith(error)


async def test_the_task_of_another_owner_is_refused(journey: Journey, guru_journey: Journey) -> None:
    task, stranger = await journey.task(says("Never.")), (await guru_journey.client.get_me())["owner"]
    ended = await read_end(await write(journey, {"task": task, "owner": stranger}))
    assert ended["error"] == f"owner: is not the owner of task {task}, which belongs to another owner"
