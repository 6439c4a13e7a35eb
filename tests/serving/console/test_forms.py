"""Bodies that are no form of the console, and fields that are in a form more than once: refused, and nothing is done."""

from __future__ import annotations

import httpx
import pytest

from ferryman.serving.api.edge import CONSOLE_BYTES_MAX
from ferryman.serving.console.forms import FIELDS_MAX
from ferryman.serving.console.sign_in import FORM_BYTES_MAX

from .conftest import SAME_SITE, Browser, find_token

FORM = "application/x-www-form-urlencoded"
PATH = "/console/approvals"
REPEATED = b"a=1&" * FIELDS_MAX + b"a=1"


async def post(browser: Browser, path: str, body: bytes, kind: str = FORM) -> httpx.Response:
    return await browser.http.post(path, content=body, headers={**SAME_SITE, "Content-Type": kind})


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"do=%ff", FORM, 400),
        (b"\xff", FORM, 400),
        (REPEATED, FORM, 400),
        (b"do=sign-out", FORM, 403),
        (b"", FORM, 403),
        (b'{"do": "sign-out"}', "application/json", 415),
        (b"do=sign-out", "multipart/form-data; boundary=x", 415),
        (b"do=" + b"a" * CONSOLE_BYTES_MAX, FORM, 413),
    ],
    ids=["no text", "no ASCII", "too many fields", "no token", "nothing", "JSON", "parts", "too long"],
)
async def test_what_is_no_form_of_the_page_is_refused(browser: Browser, body: bytes, kind: str, status: int) -> None:
    assert (await post(browser, PATH, body, kind)).status_code == status
    assert "<h1>Approvals</h1>" in (await browser.open(PATH)).text


async def test_a_button_that_is_in_the_form_twice_is_none(browser: Browser) -> None:
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    answer = await post(browser, PATH, f"token={token}&do=sign-out&do=nothing".encode())
    assert (answer.status_code, "do: is in the form more than once" in answer.text) == (400, True)


async def test_a_token_that_is_in_the_form_twice_is_none(browser: Browser) -> None:
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    assert (await post(browser, PATH, f"token={token}&token=x&do=sign-out".encode())).status_code == 400


@pytest.mark.parametrize(
    ("body", "status"), [(b"key=\xff", 400), (b"key=" + b"a" * FORM_BYTES_MAX, 413), (REPEATED[:3_000], 403), (b"", 403)]
)
async def test_what_is_no_form_of_the_page_signs_nobody_in(browser: Browser, body: bytes, status: int) -> None:
    browser.http.cookies.clear()
    answer = await post(browser, "/console/sign-in", body)
    assert (answer.status_code, "set-cookie" in answer.headers) == (status, False)


@pytest.mark.parametrize("key", ["", "fm_", "x", "fm_" + "a" * 43, "é" * 10])
async def test_what_is_no_key_signs_nobody_in(browser: Browser, key: str) -> None:
    browser.http.cookies.clear()
    answer = await browser.sign_in(key)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize("path", [PATH, f"{PATH}/appr_ann", "/console/sign-in"])
async def test_another_method_is_answered_with_those_it_takes(browser: Browser, path: str) -> None:
    answer = await browser.http.put(path)
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD", "POST"})
