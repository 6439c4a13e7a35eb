"""Charges: what was never sent is not billed, through the whole stack."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"
WAIT_MAX_S = 60


async def start(journey: Journey, model: str) -> str:
    """Return an execution of a model whose provider is never reached."""
    task = await journey.client.create_task({"name": journey.name, "task_prompt": "Do it.", "model": model})
    return (await journey.client.start_execution(task["task_id"]))["execution_id"]


async def check_nothing_billed(journey: Journey, execution: str) -> None:
    record, me = await journey.client.get_execution(execution), await journey.client.get_me()
    assert (record["status"], record["credits_used"]) == ("killed", "0")
    assert (me["credits_used"], me["credits_reserved"]) == ("0", "0")
    assert (await journey.client.get_ledger())["credits"] == "0"


async def test_a_provider_that_refuses_connections_costs_nothing_and_the_cause_is_told(journey: Journey) -> None:
    execution, causes = await start(journey, "closed"), list[str]()
    async for event in journey.client.stream_events(execution, progress=True):
        if event.kind == "progress" and event.body["cause"] and not causes:
            causes.append(str(event.body["cause"]))
            assert event.body["attempts"] >= 1
            await journey.client.cancel_execution(execution)
    assert causes == ["the model's provider was not reached: it refused the connection"]
    await check_nothing_billed(journey, execution)


async def stop(journey: Journey, execution: str) -> Mapping[str, Any]:
    """Turn the owner's kill switch on until the execution has ended, and return its record."""
    try:
        await journey.client.set_halt(on=True)
        return await journey.await_end(execution)
    finally:
        await journey.client.set_halt(on=False)


async def test_a_kill_switch_while_a_connection_is_tried_costs_nothing(journey: Journey) -> None:
    execution = await start(journey, "silent")
    async with asyncio.timeout(WAIT_MAX_S):
        while Decimal((await journey.client.get_execution(execution))["credits_held"]) == 0:  # noqa: ASYNC110 - another process's
            await asyncio.sleep(0.05)
    record = await stop(journey, execution)
    assert record["error"] == "stopped by its owner's kill switch"
    await check_nothing_billed(journey, execution)


async def test_calls_beyond_the_rate_end_their_turn_and_cost_no_fee(guru_journey: Journey) -> None:
    journey = guru_journey
    await journey.serve(HOST)
    calls = [call("http_get", url=journey.url(HOST), query_params={"n": number}) for number in range(15)]
    expected = ("The window opens in ", "not tried")
    task = await journey.task(asks(*calls), says("Enough.", expect=expected), tools=["http_get"], integrations=["coingecko"])
    record = await journey.run(task)
    assert await journey.problems() == []
    assert [row["block_reason"] for row in record["tool_calls"]] == [None] * 10 + ["rate_limited"] * 5
    contents = [call["result"]["content"] for call in await journey.client.list_calls(record["execution_id"]) if call["result"]]
    assert ["not tried" in content for content in contents[10:]] == [False] * 3 + [True] * 2
    assert (record["iterations"], len(await journey.received(HOST))) == (2, 10)
    (spent,) = (await journey.client.get_ledger())["lines"]
    assert spent["api_call_fees"] == "0"


async def test_a_kill_switch_amid_the_handshake_of_a_call_leaves_it_unsent_and_free(journey: Journey) -> None:
    host = f"{journey.name}.api.mailchimp.com"
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and never says a word
        await journey.admin.map_host(host, silent.getsockname()[1])
        use = call("api_call", method="POST", url=f"https://{host}/", credential="MAILCHIMP_API_KEY", body={"n": 1})
        task = await journey.task(asks(use), says("never"), tools=["api_call"], integrations=["mailchimp"])
        await journey.credential(task, "MAILCHIMP_API_KEY", "mailchimp")
        execution = (await journey.client.start_execution(task))["execution_id"]
        async with asyncio.timeout(WAIT_MAX_S):
            while not [sent for sent in await journey.client.list_calls(execution) if sent["state"] == "sent"]:  # noqa: ASYNC110 - another process's
                await asyncio.sleep(0.05)
        record = await stop(journey, execution)
    assert record["status"] == "killed"
    (stopped,) = await journey.client.list_calls(execution)
    assert (stopped["in_doubt"], stopped["result"]["block_reason"]) == (False, "halted")
    assert stopped["result"]["content"].startswith("Error: not sent")
    (spent,) = (await journey.client.get_ledger())["lines"]
    assert spent["api_call_fees"] == "0"
