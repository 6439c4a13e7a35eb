"""A plan's limits answer the model at once, and it may finish with what it has."""

from __future__ import annotations

from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"


async def test_the_eleventh_call_of_a_minute_on_plan_guru_is_refused(guru_journey: Journey) -> None:
    journey = guru_journey
    await journey.serve(HOST)
    calls = [call("http_get", url=journey.url(HOST), query_params={"n": number}) for number in range(11)]
    task = await journey.task(
        asks(*calls),
        says("Enough.", expect=("Error: Rate limit reached (10 API calls per minute)", "The window opens in ")),
        tools=["http_get"],
        integrations=["coingecko"],
    )
    record = await journey.run(task)
    assert await journey.problems() == []
    assert [row["block_reason"] for row in record["tool_calls"]] == [None] * 10 + ["rate_limited"]
    assert len(await journey.received(HOST)) == 10


async def test_the_reserve_is_returned_when_the_execution_ends(journey: Journey) -> None:
    task = await journey.task(says("Nothing to do."))
    record = await journey.run(task)
    me = await journey.client.get_me()
    assert (me["credits_used"], me["credits_reserved"]) == (record["credits_used"], "0")
