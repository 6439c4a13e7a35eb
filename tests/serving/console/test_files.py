"""The pages of files: list, download (no browser runs a file), link, delete, and upload as a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.files.object import Object
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.serving.api.edge import UPLOAD_BYTES_MAX
from tests.serving.conftest import Stage

from .conftest import SAME_SITE, Browser, find_token

PATH = "/console/files"
KEY = "a b/<b>#?100%.html"


@pytest.fixture(autouse=True)
def _store_file(stage: Stage) -> None:
    stage.owner("ann")
    place = f"workspaces/{derive_default_workspace('ann')}/{KEY}"
    page = b"<script>alert(1)</script>"
    file = Object(key=place, size_bytes=len(page), version="1", updated_at=START, content_type="text/html", metadata={})
    stage.objects._objects[place] = (file, page)


async def upload(
    browser: Browser, content: bytes, *, file: str = "notes.txt", content_type: str = "text/plain", **fields: str
) -> httpx.Response:
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    form = {"token": token, "do": "upload", "next": "", "folder": "", "name": "", **fields}
    return await browser.http.post(PATH, data=form, files={"file": (file, content, content_type)}, headers=SAME_SITE)


async def read_stored(client: httpx.AsyncClient, key: str) -> httpx.Response:
    return await client.get(f"/v1/files/{key}")


async def test_every_file_of_the_workspace_is_listed_and_leads_to_its_page(browser: Browser) -> None:
    listed = (await browser.open(PATH)).text
    assert 'href="../console/files/a%20b/%3Cb%3E%23%3F100%25.html"' in listed
    page = await browser.open("/console/files/a%20b/%3Cb%3E%23%3F100%25.html")
    assert (page.status_code, "a b/&lt;b&gt;#?100%.html" in page.text) == (200, True)


async def test_the_list_is_of_what_begins_so(browser: Browser) -> None:
    assert "100%" in (await browser.open(PATH + "?prefix=a")).text
    assert "No file has a key that begins with this." in (await browser.open(PATH + "?prefix=zzz")).text


async def test_a_download_is_saved_and_never_shown(browser: Browser) -> None:
    answer = await browser.open("/console/files/a%20b/%3Cb%3E%23%3F100%25.html?download=1")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_part_of_a_file_is_sent_where_it_is_asked_for(browser: Browser) -> None:
    answer = await browser.open("/console/files/a%20b/%3Cb%3E%23%3F100%25.html?download=1", Range="bytes=0-6")
    assert (answer.status_code, answer.content) == (206, b"<script")


async def test_what_is_not_there_is_a_page_that_says_so(browser: Browser) -> None:
    assert (await browser.open(f"{PATH}/nothing.md")).status_code == 404
    assert (await browser.open(f"{PATH}/nothing.md?download=1")).status_code == 404


async def test_a_file_is_uploaded_into_a_folder(browser: Browser, client: httpx.AsyncClient) -> None:
    answer = await upload(browser, b"Hello\r\n--not a boundary\r\n", folder="reports/2026")
    assert answer.headers["location"].endswith("?done=uploaded")
    stored = await read_stored(client, "reports/2026/notes.txt")
    assert (stored.content, stored.headers["content-type"]) == (b"Hello\r\n--not a boundary\r\n", "text/plain")


async def test_its_name_is_what_is_left_of_what_a_browser_says(browser: Browser, client: httpx.AsyncClient) -> None:
    await upload(browser, b"x", file="C:\\Users\\ann\\..\\évil\u202etxt.md")
    keys = {file["key"] for file in (await client.get("/v1/files")).json()["files"]}
    assert "éviltxt.md" in keys


async def test_it_is_stored_under_the_name_that_was_typed(browser: Browser, client: httpx.AsyncClient) -> None:
    await upload(browser, b"x", name="other.md")
    assert (await read_stored(client, "other.md")).content == b"x"


async def test_a_file_that_is_there_is_replaced_only_where_that_is_said(browser: Browser, client: httpx.AsyncClient) -> None:
    await upload(browser, b"first")
    refused = await upload(browser, b"second")
    assert (refused.status_code, "there is such a file" in refused.text) == (422, True)
    assert (await read_stored(client, "notes.txt")).content == b"first"
    await upload(browser, b"second", replace="true")
    assert (await read_stored(client, "notes.txt")).content == b"second"


async def test_a_type_that_is_none_is_no_header(browser: Browser, client: httpx.AsyncClient) -> None:
    await upload(browser, b"x", content_type="text/html\x0bX: 1")
    assert (await read_stored(client, "notes.txt")).headers["content-type"] == "application/octet-stream"


async def test_a_form_without_a_file_says_so(browser: Browser) -> None:
    answer = await upload(browser, b"", file="")
    assert (answer.status_code, "choose one" in answer.text) == (422, True)


async def test_the_page_that_was_asked_for_follows(browser: Browser) -> None:
    answer = await upload(browser, b"x", next="/console/conversations/conv_ann")
    assert answer.url.join(answer.headers["location"]).path == "/console/conversations/conv_ann"


async def test_no_byte_of_a_file_is_read_without_the_token_of_the_page(browser: Browser, client: httpx.AsyncClient) -> None:
    answer = await upload(browser, b"x", token="0" * 64)
    assert (answer.status_code, (await read_stored(client, "notes.txt")).status_code) == (403, 404)


async def test_what_is_wrong_comes_as_a_part_for_the_script(browser: Browser) -> None:
    await upload(browser, b"first")
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    form, files = {"token": token, "do": "upload"}, {"file": ("notes.txt", b"second", "text/plain")}
    headers = {**SAME_SITE, "Ferryman-Parts": "upload-problems"}
    answer = await browser.http.post(PATH, data=form, files=files, headers=headers)
    assert (answer.status_code, list(answer.json()["parts"])) == (422, ["upload-problems"])


async def test_a_form_that_breaks_off_stores_nothing(browser: Browser, client: httpx.AsyncClient) -> None:
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    head = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {"token": token, "do": "upload", "next": "", "folder": "", "name": ""}.items()
    )
    body = f'{head}--b\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\nHalf of'
    headers = {**SAME_SITE, "Content-Type": "multipart/form-data; boundary=b"}
    answer = await browser.http.post(PATH, content=body, headers=headers)
    assert (answer.status_code, (await read_stored(client, "cut.txt")).status_code) == (400, 404)


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; x"])
async def test_a_form_without_a_boundary_is_none(browser: Browser, content_type: str) -> None:
    answer = await browser.http.post(PATH, content=b"--b", headers={**SAME_SITE, "Content-Type": content_type})
    assert answer.status_code == 400


@pytest.mark.parametrize("fields", [{"name": "x" * 4_001}, {f"f{number}": "x" for number in range(25)}])
async def test_fields_are_few_and_short(browser: Browser, fields: dict[str, str]) -> None:
    assert (await upload(browser, b"x", **fields)).status_code == 413


async def test_a_file_is_not_larger_than_the_api_takes(browser: Browser) -> None:
    async def send() -> AsyncIterator[bytes]:
        yield b"--b"

    headers = {**SAME_SITE, "Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(UPLOAD_BYTES_MAX + 1)}
    assert (await browser.http.post(PATH, content=send(), headers=headers)).status_code == 413


async def test_no_other_page_takes_a_file(browser: Browser) -> None:
    files = {"file": ("a", b"x", "text/plain")}
    assert (await browser.http.post("/console/tasks/new", files=files, headers=SAME_SITE)).status_code == 415


async def test_a_file_is_deleted_after_its_box_was_ticked(browser: Browser, client: httpx.AsyncClient) -> None:
    await upload(browser, b"x")
    page = f"{PATH}/notes.txt"
    form = {"do": "delete", "key": "notes.txt"}
    assert (await browser.send(PATH, form, page=page)).status_code == 422
    await browser.send(PATH, {**form, "sure": "true"}, page=page)
    assert (await read_stored(client, "notes.txt")).status_code == 404


async def test_a_viewer_is_told_the_right_that_is_missing(browser: Browser, stage: Stage) -> None:
    await browser.sign_in(stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer "))
    answer = await upload(browser, b"x")
    assert (answer.status_code, "needs the right manage" in answer.text) == (403, True)


async def test_no_direct_link_is_given_where_the_operator_has_not_allowed_them(browser: Browser, app: FastAPI) -> None:
    app.state.deps = replace(app.state.deps, direct_links=False)
    await upload(browser, b"x")
    answer = await browser.send(PATH, {"do": "link", "key": "notes.txt"}, page=f"{PATH}/notes.txt")
    assert (answer.status_code, "no direct links" in answer.text) == (404, True)


async def test_a_direct_link_is_shown_where_there_are_any(browser: Browser) -> None:
    await upload(browser, b"x")
    answer = await browser.send(PATH, {"do": "link", "key": "notes.txt"}, page=f"{PATH}/notes.txt")
    assert (answer.status_code, "valid until" in answer.text) == (200, True)
