"""Files of people: given to a task, downloaded, linked to and deleted, through the whole stack."""

from __future__ import annotations

import httpx

from tests.journeys.conftest import Journey, asks, call, says


async def test_a_person_gives_a_task_a_file_and_downloads_what_it_wrote(journey: Journey) -> None:
    await journey.client.put_file("in/names.txt", b"Ada, Grace", content_type="text/plain")
    task = await journey.task(
        asks(call("file_read", key="in/names.txt"), call("file_write", key="out/report.md", content="# Two names\n")),
        says("Done.", expect=("Ada, Grace",)),
        tools=["file_read", "file_write"],
    )
    assert (await journey.run(task))["status"] == "completed", await journey.problems()
    listed = {row["key"]: row async for row in journey.client.iterate_files()}
    assert listed.keys() == {"in/names.txt", "out/report.md"}
    etag = listed["out/report.md"]["etag"]
    parts = [part async for part in journey.client.download_file("out/report.md", start=2, etag=etag)]
    assert b"".join(parts) == b"Two names\n"
    link = await journey.client.get_file_link("out/report.md")
    async with httpx.AsyncClient(base_url=journey.client.url, trust_env=False) as http:
        answers = [await http.get(link["path"], headers=headers) for headers in (journey.client._http.headers, {})]
    assert [answer.status_code for answer in answers] == [200, 401]
    assert answers[0].headers["content-disposition"].startswith("attachment; ")
    direct = await journey.client.create_direct_link("out/report.md")
    async with httpx.AsyncClient(trust_env=False) as anybody:
        answer = await anybody.get(direct["url"])
    assert (answer.content, answer.headers["content-type"]) == (b"# Two names\n", "application/octet-stream")
    for key in listed:
        await journey.client.delete_file(key)
    assert [row async for row in journey.client.iterate_files()] == []
