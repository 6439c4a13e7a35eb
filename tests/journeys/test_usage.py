"""Usage through the whole stack: a task runs, and some seconds later what it used is told, over HTTP."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal

from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"
WAIT_MAX_S = 60


async def test_what_a_task_used_is_told_some_seconds_later(journey: Journey) -> None:
    await journey.serve(HOST)
    calls = [call("http_get", url=journey.url(HOST), query_params={"n": number}) for number in range(2)]
    task = await journey.task(asks(*calls), says("Done."), tools=["http_get"], integrations=["coingecko"])
    record = await journey.run(task)
    async with asyncio.timeout(WAIT_MAX_S):
        while (await journey.client.get_usage(by="day"))["total"]["turns"] < record["iterations"]:  # noqa: ASYNC110 - another process's
            await asyncio.sleep(0.2)
    report = await journey.client.get_usage(by="all")
    rows = {(row["by"], row["name"]): row["counts"] for row in report["rows"]}
    used = rows["tool", "http_get"]
    assert (used["calls"], used["failures"], sum(used["latencies"])) == (2, {}, 2)
    assert used["result_tokens"] > 0
    assert Decimal(report["total"]["llm_tokens"]) == Decimal(record["credits_used"])
    assert report["total"]["usage"] == record["usage"]
    assert HOST not in json.dumps(report)
