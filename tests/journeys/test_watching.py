"""Executions are watched live, resumed where the line broke, and cancelled."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ferryman.client import ApiRefusedError
from ferryman.gcp.places import Places
from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"


async def test_watching_resumes_after_the_last_event_that_was_seen(journey: Journey) -> None:
    await journey.serve(HOST)
    task = await journey.task(
        asks(call("http_get", url=journey.url(HOST))), says("Done."), tools=["http_get"], integrations=["coingecko"]
    )
    execution = (await journey.client.start_execution(task))["execution_id"]
    first = []
    async for event in journey.client.stream_events(execution):
        first.append(event)
        if event.kind == "tool_call":
            break
    rest = [event async for event in journey.client.stream_events(execution, after=first[-1].number)]
    kinds = ["started", "turn", "tool_call", "tool_result", "turn", "finished"]
    assert [event.kind for event in first + rest] == kinds
    assert [event.number for event in first + rest] == list(range(1, 7))


async def test_credits_are_told_while_they_are_spent(journey: Journey) -> None:
    await journey.serve(HOST, delay_s=1.0)
    task = await journey.task(
        asks(call("http_get", url=journey.url(HOST))), says("Done."), tools=["http_get"], integrations=["coingecko"]
    )
    execution = (await journey.client.start_execution(task))["execution_id"]
    events = [event async for event in journey.client.stream_events(execution, progress=True)]
    progress = next(event.body for event in events if event.kind == "progress")
    ended = await journey.client.get_execution(execution)
    assert 0 < Decimal(progress["credits_used"]) < Decimal(ended["credits_used"])
    assert progress["credits_reserved"] == ended["credits_reserved"]


async def test_a_cancelled_execution_sends_nothing_more(journey: Journey) -> None:
    await journey.serve(HOST, delay_s=2.0)
    uses = [call("http_get", url=journey.url(HOST), query_params={"n": number}) for number in range(3)]
    task = await journey.task(asks(*uses), says("Never said."), tools=["http_get"], integrations=["coingecko"])
    execution = (await journey.client.start_execution(task))["execution_id"]
    async for event in journey.client.stream_events(execution):
        if event.kind == "tool_call":
            break
    await journey.client.cancel_execution(execution)
    record = await journey.await_end(execution)
    assert record["status"] == "killed"
    assert len(await journey.received(HOST)) <= 1


async def test_an_execution_of_a_disabled_task_is_refused(journey: Journey) -> None:
    task = await journey.task(says("Never said."), enabled=False)
    with pytest.raises(ApiRefusedError, match=task) as refused:
        await journey.client.start_execution(task)
    assert refused.value.status == 409


async def test_a_watcher_counts_among_its_owners_streams_until_it_leaves(journey: Journey) -> None:
    await journey.serve(HOST, delay_s=3.0)
    task = await journey.task(
        asks(call("http_get", url=journey.url(HOST))), says("Done."), tools=["http_get"], integrations=["coingecko"]
    )
    execution = (await journey.client.start_execution(task))["execution_id"]
    owner = (await journey.client.get_me())["owner"]
    streams = Places(journey.clients.firestore()).locate_streams(owner)
    seen = []
    async for event in journey.client.stream_events(execution):
        if event.kind == "tool_call":
            seen.append(len((await streams.get()).to_dict()["held"]))
            break
    await journey.await_end(execution)
    seen.append(len((await streams.get()).to_dict()["held"]))
    assert seen == [1, 0]


async def test_another_owner_sees_neither_task_nor_execution(journey: Journey, guru_journey: Journey) -> None:
    task = await journey.task(says("Mine."))
    record = await journey.run(task)
    other = guru_journey.client
    assert (await other.list_tasks(), await other.list_executions()) == ([], [])
    for ask in (
        other.get_task(task),
        other.get_execution(record["execution_id"]),
        other.start_execution(task),
        other.delete_task(task),
    ):
        with pytest.raises(ApiRefusedError) as refused:
            await ask
        assert refused.value.status == 404


async def test_watching_goes_on_when_the_api_dies_and_comes_back(journey: Journey) -> None:
    await journey.serve(HOST, delay_s=1.0)
    task = await journey.task(
        asks(call("http_get", url=journey.url(HOST))), says("Done."), tools=["http_get"], integrations=["coingecko"]
    )
    execution = (await journey.client.start_execution(task))["execution_id"]
    numbers = []
    async for event in journey.client.stream_events(execution):
        numbers.append(event.number)
        if event.kind == "tool_call":
            await journey.admin.kill("api")
    assert numbers == list(range(1, 7))
