"""Pages of the simulated internet, fetched by a model over TLS and in clear, and a URL that it made up."""

from __future__ import annotations

import hashlib

from ferryman.gcp.file_quotas import FirestoreFileQuotas
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


async def test_a_long_page_and_a_long_answer_are_kept_as_files_that_the_record_names(journey: Journey) -> None:
    text = "".join(f"{number}: the ferry leaves\n" for number in range(5_000))
    for host in ("log.test", "api.coingecko.com"):
        await journey.admin.serve_routes(host, [{"path": "/", "body": text, "headers": {"content-type": "text/plain"}}])
    task = await journey.task(
        asks(call("web_fetch", url="https://log.test/"), call("http_get", url="https://api.coingecko.com/")),
        says("Read.", expect=("0: the ferry leaves", "/0.txt", "/1.txt", "is kept in a file. To read on: file_read")),
        tools=["web_fetch", "http_get", "file_read"],
        integrations=["coingecko"],
        max_credits=500,
        task_prompt="What does https://log.test/ say?",
    )
    record = await journey.run(task)
    assert record["status"] == "completed", await journey.problems()
    (workspace,) = [row["workspace_id"] async for row in journey.client.iterate_workspaces()]
    calls = [row async for row in journey.client.iterate_calls(record["execution_id"])]
    assert [row["state"] for row in calls] == ["settled", "settled"]
    for row in calls:
        _, file = row["result"]["parts"]
        content = b"".join([part async for part in journey.client.download_file(file["file"])])
        assert (content.decode(), file["sha256"]) == (text, hashlib.sha256(content).hexdigest())
    quota = await FirestoreFileQuotas(journey.clients).get(workspace)
    assert (quota.used_bytes, quota.reservations) == (2 * len(text), {})
