"""Files: written by one task, read and searched by another of the workspace, counted to the byte, and unknown to others."""

from __future__ import annotations

from ferryman.gcp.file_quotas import FirestoreFileQuotas
from tests.journeys.conftest import Journey, asks, call, says

ALL = ["file_read", "file_write", "file_list", "file_edit", "glob_search", "content_search", "image_info"]


async def test_a_report_is_written_edited_found_and_read_by_another_task(journey: Journey) -> None:
    long = "".join(f"{number}: a line of the log\n" for number in range(100))
    writer = await journey.task(
        asks(
            call("file_write", key="reports/trip.md", content="# Trip\nMünchen, Tokio\n", content_type="text/markdown"),
            call("file_write", key="../reports//log.txt", content=long),
            call("file_edit", key="reports/trip.md", old_text="Tokio", new_text="東京"),
        ),
        says("Written.", expect=('"key": "reports/log.txt"', '"replaced": 1')),
        tools=ALL,
    )
    record = await journey.run(writer)
    assert record["status"] == "completed", await journey.problems()
    reader = await journey.task(
        asks(
            call("glob_search", pattern="reports/*"),
            call("content_search", query="99: a line", pattern="**/*.txt"),
            call("file_read", key="reports/trip.md"),
            call("file_read", key="reports/log.txt"),
            call("image_info", key="reports/trip.md"),
        ),
        says(
            "Read.",
            expect=(
                '{"keys": ["reports/log.txt", "reports/trip.md"], "cursor": null}',
                '"line": 100, "text": "99: a line of the log"',
                '"content": "# Trip\\nMünchen, 東京\\n"',
                f'"encoding": "text", "size_bytes": {len(long)}',
                "is no picture",
            ),
        ),
        tools=ALL,
    )
    record = await journey.run(reader)
    assert record["status"] == "completed", await journey.problems()
    assert record["tool_calls"][2]["content"].startswith("<tool_response ")
    (workspace,) = [row["workspace_id"] async for row in journey.client.iterate_workspaces()]
    quota = await FirestoreFileQuotas(journey.clients).get(workspace)
    assert (quota.used_bytes, quota.reservations) == (len("# Trip\nMünchen, 東京\n".encode()) + len(long), {})
