"""The webhook tool posts to registered hosts, and to nothing else."""

from __future__ import annotations

import json

import pytest

from ferryman.client import ApiRefusedError
from tests.journeys.conftest import Journey, asks, call, says

HOST = "hooks.slack.com"


async def test_a_registered_webhook_receives_the_body_as_json(journey: Journey) -> None:
    await journey.serve(HOST, body="ok")
    task = await journey.task(
        asks(call("webhook", url=journey.url(HOST), body={"text": "done"})),
        says("Told.", expect=("ok",)),
        tools=["webhook"],
        integrations=["webhook"],
        webhook_urls=[journey.url(HOST)],
    )
    record = await journey.run(task)
    assert record["status"] == "completed"
    (request,) = await journey.received(HOST)
    assert json.loads(request["body"]) == {"text": "done"}
    assert ["content-type", "application/json"] in request["headers"]


async def test_a_webhook_that_is_not_registered_gets_nothing(journey: Journey) -> None:
    await journey.serve(HOST)
    await journey.serve("discord.com")
    task = await journey.task(
        asks(call("webhook", url=journey.url("discord.com"), body={"text": "done"})),
        says("Done.", expect=("Error: webhook URL not registered for this task.",)),
        tools=["webhook"],
        integrations=["webhook"],
        webhook_urls=[journey.url(HOST)],
    )
    record = await journey.run(task)
    assert record["tool_calls"][0]["block_reason"] == "webhook_not_registered"
    assert await journey.received("discord.com") == []


async def test_a_webhook_whose_name_does_not_resolve_is_not_registered(journey: Journey) -> None:
    with pytest.raises(ApiRefusedError) as refused:
        await journey.task(says("No."), webhook_urls=["https://no-such-name.example/hook"])
    assert [field for field, _ in refused.value.errors] == ["webhook_urls.0"]
