"""Uploads in a browser: with a script that shows how far they are, and without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import sign_in, watch
from tests.browser.filled_site import FilledSite, build_site
from tests.serve import serve_app

PATH = "/console/files"
FILE = {"name": "trip.md", "mimeType": "text/markdown", "buffer": b"# The trip\r\n--\r\n"}


@pytest.fixture
def upload_site() -> FilledSite:
    return build_site()


@pytest.fixture
def upload_origin(upload_site: FilledSite) -> Iterator[str]:
    with serve_app(upload_site.app) as url:
        yield url


@pytest.mark.parametrize("has_script", [True, False])
def test_a_file_is_stored_as_it_is(chromium: Any, upload_site: FilledSite, upload_origin: str, has_script: bool) -> None:
    state = sign_in(chromium, upload_origin, upload_site.key)
    with watch(chromium, upload_origin, state, java_script_enabled=has_script) as seen:
        seen.page.goto(upload_origin + PATH)
        seen.page.set_input_files("input[name=file]", FILE)
        seen.page.click("#upload button")
        seen.page.get_by_text("Uploaded.").wait_for()
    stored = [content for key, (_, content) in upload_site.stage.objects._objects.items() if key.endswith("/trip.md")]
    assert stored == [FILE["buffer"]]


def test_what_is_refused_is_said_and_the_file_stays_chosen(chromium: Any, upload_site: FilledSite, upload_origin: str) -> None:
    state = sign_in(chromium, upload_origin, upload_site.key)
    with watch(chromium, upload_origin, state) as seen:
        seen.page.goto(upload_origin + PATH)
        seen.page.set_input_files("input[name=file]", {**FILE, "name": "notes.md"})
        seen.page.click("#upload button")
        seen.page.get_by_text("there is such a file").wait_for()
        assert seen.page.input_value("input[name=file]").endswith("notes.md")
        seen.page.check("input[name=replace]")
        seen.page.click("#upload button")
        seen.page.get_by_text("Uploaded.").wait_for()
