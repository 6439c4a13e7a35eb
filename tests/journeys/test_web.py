"""Pages of the simulated internet, fetched by a model over TLS and in clear, and a URL that it made up."""

from __future__ import annotations

from tests.journeys.conftest import Journey, asks, call, says

PAGE = (
    "<title>Ferries</title><article><p>"
    + "The night ferry leaves at ten. " * 20
    + '</p><a href="http://times.test/a">all</a></article>'
)


async def test_a_model_reads_a_page_that_its_owner_names_and_one_that_it_links_to(journey: Journey) -> None:
    html = {"content-type": "text/html"}
    await journey.admin.serve_routes("ferries.test", [{"path": "/", "body": PAGE, "headers": html}])
    await journey.admin.serve_routes("times.test", [{"path": "/a", "json": {"leaves": "22:00"}}])
    task = await journey.task(
        asks(call("web_fetch", url="https://ferries.test/")),
        asks(
            call("web_fetch", url="http://times.test/a"),
            call("web_fetch", url="http://times.test/a?secret=1"),
            expect=("# Ferries", "The night ferry leaves at ten."),
        ),
        says("At ten.", expect=('{"leaves": "22:00"}', "Error: URL blocked")),
        tools=["web_fetch"],
        task_prompt="When does the ferry of https://ferries.test/ leave?",
    )
    record = await journey.run(task)
    assert record["status"] == "completed"
    assert await journey.problems() == []
    assert [(row["url"], row["response_status"]) for row in record["tool_calls"]] == [
        ("https://ferries.test/", 200),
        ("http://times.test/a", 200),
        ("http://times.test/a?secret=1", None),
    ]
    requests = await journey.admin.list_requests("times.test")
    assert [request["path"] for request in requests] == ["/robots.txt", "/a"]
