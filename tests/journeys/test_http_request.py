"""http_request through the whole stack: each call is one of the tool behind it, and costs what that costs."""

from __future__ import annotations

from tests.journeys.conftest import KEY, Journey, asks, call, says

PUBLIC, AUTHENTICATED = "api.coingecko.com", "lunarcrush.com"
NAME = "LUNARCRUSH_API_KEY"


async def test_each_request_goes_the_way_of_the_tool_behind_it(journey: Journey) -> None:
    for host in (PUBLIC, AUTHENTICATED):
        await journey.serve(host)
    url, private = journey.url(PUBLIC), journey.url(AUTHENTICATED)
    task = await journey.task(
        asks(
            call("http_request", url=url, query={"q": "a b"}),
            call("http_request", method="post", url=url, query={"q": 1}, body={"a": 1}),
            call("http_request", method="PUT", url=private, credential=NAME, body={"b": 2}),
            call("http_request", method="DELETE", url=private),
            call("http_request", url=url, body={"a": 1}),
        ),
        says("Done.", expect=('"ok"', "'credential' field required for api_call", "'body' for http_request")),
        tools=["http_request", "http_get", "http_post", "api_call"],
        integrations=["coingecko", "lunarcrush"],
    )
    await journey.credential(task, NAME, "lunarcrush")
    record = await journey.run(task)
    assert await journey.problems() == []
    requests = [*await journey.received(PUBLIC), *await journey.received(AUTHENTICATED)]
    assert [(request["method"], request["query"] or "") for request in requests] == [
        ("GET", "q=a%20b"),
        ("POST", "q=1"),
        ("PUT", ""),
    ]
    assert ["authorization", f"Bearer {KEY}"] in requests[-1]["headers"]
    rows = [(row["tool"], row["blocked"]) for row in record["tool_calls"]]
    assert rows == [("http_get", False), ("http_post", False), ("api_call", False), ("api_call", True), ("http_request", True)]
    ledger = await journey.client.get_ledger()
    (spent,) = [row for row in ledger["lines"] if row["id"] == task]
    assert spent["api_call_fees"] == "0.5"


async def test_the_record_has_both_names(journey: Journey) -> None:
    await journey.serve(PUBLIC)
    task = await journey.task(
        asks(call("http_request", url=journey.url(PUBLIC)), call("http_get", url=journey.url(PUBLIC))),
        says("Done."),
        tools=["http_request", "http_get"],
        integrations=["coingecko"],
    )
    record = await journey.run(task)
    calls = [item async for item in journey.client.iterate_calls(record["execution_id"])]
    assert [(item["tool"], item["called_as"]) for item in calls] == [("http_get", "http_request"), ("http_get", None)]


async def test_a_task_without_the_tool_behind_it_sends_nothing(journey: Journey) -> None:
    await journey.serve(AUTHENTICATED)
    task = await journey.task(
        asks(call("http_request", url=journey.url(AUTHENTICATED), credential=NAME)),
        says("No.", expect=("Error: tool 'api_call' is not enabled for this task",)),
        tools=["http_request", "http_get"],
        integrations=["lunarcrush"],
    )
    await journey.credential(task, NAME, "lunarcrush")
    await journey.run(task)
    assert await journey.problems() == []
    assert await journey.received(AUTHENTICATED) == []
