"""Traces: one trace id from the caller of the API over queue and orchestrator to the tool, in every line of the logs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_logs import read_lines

HOST = "api.coingecko.com"


async def test_a_trace_goes_from_the_api_to_the_tool(journey: Journey, stack: Mapping[str, Any]) -> None:
    await journey.serve(HOST)
    use = call("http_get", url=journey.url(HOST))
    task = await journey.task(asks(use), says("Done."), tools=["http_get"], integrations=["coingecko"])
    trace = secrets.token_hex(16)
    started = await journey.client.start_execution(task, traceparent=f"00-{trace}-{secrets.token_hex(8)}-01")
    execution = started["execution_id"]
    await journey.await_end(execution)
    lines = [json.loads(line) for line in read_lines(Path(stack["data"])) if execution in line]
    traces = {line["message"]: line.get("logging.googleapis.com/trace") for line in lines}
    name = f"projects/{stack['project']}/traces/{trace}"
    assert {message: traces[message] for message in ("turn", "call", "execution.finished")} == dict.fromkeys(
        ("turn", "call", "execution.finished"), name
    )
    # whoever is first puts it into the queue: the api under this trace, or the trigger under none
    delivered = [
        delivery["headers"].get("traceparent", trace)
        for delivery in await journey.admin.list_deliveries()
        if execution in str(delivery)
    ]
    assert [delivery for delivery in delivered if trace not in delivery] == []
