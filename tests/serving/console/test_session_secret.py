"""The secret of a session's cookie: what a session seals, the store does not open."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from ferryman.serving.api.access import KEY_DIGEST, SESSION_ENTRY
from ferryman.serving.console.api_client import ApiClient
from ferryman.serving.console.cookies import NAME, read_cookie
from ferryman.vault.answers import open_response
from ferryman.vault.seal import UnsealError
from tests.builders import build_task
from tests.serving.conftest import Stage

from .conftest import Browser

ONCE = "once"


def read_session_secret(browser: Browser) -> tuple[str, str]:
    """Return the secret of the cookie, and all of it but that."""
    version, session, secret, mac = browser.http.cookies[NAME].split(".")
    return secret, f"{version}.{session}.{mac}"


@pytest.fixture(autouse=True)
def _store_task(stage: Stage) -> None:
    stage.owner("ann")
    stage.memory.tasks["task_one"] = build_task(id="task_one", owner="ann", model="scripted")


async def start_task(browser: Browser) -> httpx.Response:
    return await browser.send("/console/tasks/task_one", {"do": "start", "once": ONCE})


async def test_what_is_kept_for_a_retry_opens_with_the_secret_of_the_cookie_alone(browser: Browser, stage: Stage) -> None:
    assert (await start_task(browser)).status_code == 303
    (stored,) = stage.memory.keyed.values()
    secret, rest = read_session_secret(browser)
    assert open_response(secret, stored.id, stored.answer or b"").status == 202
    sessions = [text for session in stage.memory.console_sessions.values() for text in (session.id, session.digest)]
    for known in (*stage.memory.keys, *sessions, *rest.split(".")):
        with pytest.raises(UnsealError):
            open_response(known, stored.id, stored.answer or b"")


async def test_the_secret_is_stored_nowhere(browser: Browser, stage: Stage) -> None:
    await start_task(browser)
    assert read_session_secret(browser)[0] not in repr(stage.memory)


async def test_a_form_that_is_sent_again_is_answered_as_before(browser: Browser, client: httpx.AsyncClient) -> None:
    first, second = await start_task(browser), await start_task(browser)
    assert first.headers["location"] == second.headers["location"]
    assert len((await client.get("/v1/executions")).json()["executions"]) == 1


async def test_another_secret_makes_the_cookie_a_forged_one(browser: Browser) -> None:
    cookie = browser.http.cookies[NAME]
    secret, _ = read_session_secret(browser)
    browser.http.cookies.clear()
    changed = ("A" if secret[0] != "A" else "B") + secret[1:]
    page = await browser.open("/console/sessions", Cookie=f"{NAME}={cookie.replace(secret, changed)}")
    assert "API key" in page.text


async def test_no_two_sessions_have_one_secret(browser: Browser, stage: Stage) -> None:
    first, _ = read_session_secret(browser)
    await browser.sign_in(stage.owner("ann")["Authorization"].removeprefix("Bearer "))
    assert read_session_secret(browser)[0] != first


async def test_a_link_to_a_file_is_good_for_the_session_that_asks_for_it(app: FastAPI, browser: Browser, stage: Stage) -> None:
    session = stage.memory.console_sessions[browser.http.cookies[NAME].split(".")[1]]
    origin = {"asgi": {"version": "3.0"}, "headers": []}
    api, other = (ApiClient(app=app, origin=origin, session=session, secret=letter * 43) for letter in "ab")
    link = await api.get("/v1/file-links", key="notes.md")
    path, _, text = link["path"].partition("?link=")
    assert (await api.ask("GET", path, query={"link": text})).content
    with pytest.raises(Exception, match="403"):
        await other.ask("GET", path, query={"link": text})


async def test_no_header_is_a_secret(app: FastAPI, stage: Stage) -> None:
    stage.owner("ann")
    headers = {KEY_DIGEST: next(iter(stage.memory.keys)), SESSION_ENTRY: "a" * 43}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        assert (await http.get("/v1/me", headers=headers)).status_code == 401


def test_a_cookie_without_a_secret_names_no_session() -> None:
    assert read_cookie({1: b"k" * 32}, "1.session_1." + "0" * 64) is None
