"""Stopping: a cancel sends nothing more, a kill switch breaks off what is under way, and what waits holds nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from ferryman.client import ApiRefusedError
from ferryman.gcp.halts import FirestoreHalts
from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"
LONG_S = 20.0
WAIT_MAX_S = 60


async def under_way(journey: Journey, *steps: Mapping[str, Any], delay_s: float = LONG_S) -> str:
    """Return an execution whose first call has reached its host, which answers after `delay_s`."""
    await journey.serve(HOST, delay_s=delay_s)
    task = await journey.task(*steps, tools=["http_get", "http_post"], integrations=["coingecko"])
    execution = str((await journey.client.start_execution(task))["execution_id"])
    async with asyncio.timeout(WAIT_MAX_S):
        while not await journey.received(HOST):  # noqa: ASYNC110 - another process's
            await asyncio.sleep(0.05)
    return execution


def get(journey: Journey) -> dict[str, Any]:
    return asks(call("http_get", url=journey.url(HOST)))


async def calls_of(journey: Journey, execution: str) -> list[dict[str, Any]]:
    return await journey.client.list_calls(execution)


async def test_a_cancel_lets_the_call_under_way_finish_and_sends_nothing_more(journey: Journey) -> None:
    two = asks(call("http_get", url=journey.url(HOST)), call("http_get", url=journey.url(HOST), headers={"prefer": "b"}))
    execution = await under_way(journey, two, says("never"), delay_s=1.5)
    await journey.client.cancel_execution(execution)
    record = await journey.await_end(execution)
    assert (record["status"], record["error"]) == ("killed", "cancelled")
    assert [call["result"]["block_reason"] for call in await calls_of(journey, execution)] == [None, "cancelled"]
    assert len(await journey.received(HOST)) == 1


@pytest.mark.parametrize("whose", ["owner", "operator"])
@pytest.mark.parametrize(("tool", "in_doubt"), [("http_get", False), ("http_post", True)])
async def test_a_kill_switch_breaks_off_the_call_under_way(journey: Journey, tool: str, in_doubt: bool, whose: str) -> None:
    body = {"body": {"a": 1}} if tool == "http_post" else {}
    execution = await under_way(journey, asks(call(tool, url=journey.url(HOST), **body)), says("never"))
    halts = FirestoreHalts(journey.clients)
    started = datetime.now(UTC)
    try:
        if whose == "owner":
            await journey.client.set_halt(on=True)
        else:
            await halts.put(None, on=True, now=started)
        record = await journey.await_end(execution)
    finally:
        await halts.put(None, on=False, now=started)
    assert (record["status"], record["error"]) == (
        "killed",
        f"stopped by {'its owner' if whose == 'owner' else 'the operator'}'s kill switch",
    )
    [ticket] = await calls_of(journey, execution)
    assert (ticket["in_doubt"], ticket["attempt"]) == (in_doubt, 1)
    # it ended long before its host would have answered
    settled = datetime.fromisoformat(ticket["settled_at"])
    assert (settled - started).total_seconds() < LONG_S / 2


async def test_nothing_starts_while_the_switch_is_on(journey: Journey) -> None:
    task = await journey.task(says("Hello."))
    await journey.client.set_halt(on=True)
    with pytest.raises(ApiRefusedError) as refused:
        await journey.client.start_execution(task)
    assert (refused.value.status, "its owner's kill switch" in str(refused.value)) == (409, True)
    await journey.client.set_halt(on=False)
    assert (await journey.run(task))["status"] == "completed"


async def test_a_provider_that_says_to_wait_is_waited_for_in_the_queue(journey: Journey) -> None:
    busy = {"status": 429, "type": "rate_limit_error", "message": "slow down", "retry_after_s": 3.0, "times": 1}
    task = await journey.task({**says("Done."), "error": busy})
    record = await journey.run(task)
    assert (record["status"], record["output"], record["slice"]) == ("completed", "Done.", 1)


async def test_a_cancel_ends_what_waits_for_its_next_slice_at_once(journey: Journey) -> None:
    busy = {"status": 429, "type": "rate_limit_error", "message": "slow down", "retry_after_s": 600.0, "times": 1}
    task = await journey.task({**says("never"), "error": busy})
    execution = str((await journey.client.start_execution(task))["execution_id"])
    async with asyncio.timeout(WAIT_MAX_S):
        while (await journey.client.get_execution(execution))["slice"] == 0:  # noqa: ASYNC110 - another process's
            await asyncio.sleep(0.05)
    await journey.client.cancel_execution(execution)
    record = await journey.await_end(execution)
    assert (record["status"], record["error"], record["credits_used"]) == ("killed", "cancelled", "0")
