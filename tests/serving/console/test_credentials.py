"""The pages of a task's credentials: values go in and never come out, and a consent is finished by who began it."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ferryman.domain.credentials.connection import NotConnectedError
from ferryman.domain.remote_servers.client_document import CONSOLE_CALLBACK
from ferryman.domain.workspaces.member import Role
from ferryman.serving.console.consents import MCP, locate_callback
from tests.builders import build_task
from tests.canaries import canary
from tests.serving.conftest import Stage

from .conftest import Browser

SECRET = canary.create_key("the console, a credential", 24, before="cc-")
PATH = "/console/tasks/task_one/credentials"
CALLBACK = "/console/consents/calendar/connected"
FIELDS = {"name": "CALENDAR_KEY", "service": "calendar", "value": SECRET, "do": "store"}


@pytest.fixture(autouse=True)
def _store_task(stage: Stage) -> None:
    stage.owner("ann")
    stage.memory.tasks["task_one"] = build_task(id="task_one", owner="ann", integrations=("calendar", "webhook"))
    stage.memory.tasks["task_bob"] = build_task(id="task_bob", owner="bob", integrations=("calendar",))


async def begin(browser: Browser, **fields: str) -> httpx.Response:
    return await browser.send(f"{PATH}/connect", {"service": "calendar", "do": "connect", **fields})


def read_link(page: httpx.Response) -> str:
    """Return the address of the consent page that a page links to."""
    match = re.search(r'href="(https://login[^"]*)"', page.text)
    assert match is not None, page.text
    return html.unescape(match[1])


def read_state(page: httpx.Response) -> str:
    return parse_qs(urlsplit(read_link(page)).query)["state"][0]


async def test_a_value_is_stored_and_on_no_page(browser: Browser, stage: Stage) -> None:
    sent = await browser.send(PATH, FIELDS)
    assert sent.status_code == 303, sent.text
    assert "CALENDAR_KEY" in stage.memory.credentials["task_one"]
    assert SECRET not in (await browser.open(PATH)).text + sent.text + str(sent.headers)


@pytest.mark.parametrize("change", [{"name": "lower"}, {"name": "../x"}, {"service": "other"}, {"auth_type": "none"}])
async def test_a_refused_form_keeps_what_was_typed_but_the_value(browser: Browser, change: dict[str, str]) -> None:
    page = await browser.send(PATH, {**FIELDS, "auth_header_name": "X-Mine", **change})
    assert page.status_code == 422
    assert 'value="X-Mine"' in page.text
    assert 'aria-invalid="true"' in page.text
    assert SECRET not in page.text


async def test_browsers_fill_in_no_password_of_theirs(browser: Browser) -> None:
    assert re.search(r'name="value" type="password" value="" autocomplete="new-password"', (await browser.open(PATH)).text)


async def test_a_member_who_may_only_read_stores_nothing(browser: Browser, stage: Stage) -> None:
    await browser.sign_in(stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer "))
    page = await browser.send(PATH, FIELDS)
    assert (page.status_code, SECRET in page.text, "task_one" in stage.memory.credentials) == (403, False, False)


async def test_a_name_leads_to_no_other_route(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {**FIELDS, "name": "../../task_bob/credentials/STOLEN"})
    assert not stage.memory.credentials


async def test_a_credential_is_deleted_where_the_box_is_ticked(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, FIELDS)
    assert (await browser.send(PATH, {"do": "delete", "id": "CALENDAR_KEY"})).status_code == 422
    assert (await browser.send(PATH, {"do": "delete", "id": "CALENDAR_KEY", "sure": "true"})).status_code == 303
    assert "CALENDAR_KEY" not in stage.memory.credentials["task_one"]


@pytest.mark.parametrize("end", ["", "/connect"])
async def test_credentials_of_another_owner_are_not_there(browser: Browser, end: str) -> None:
    assert (await browser.open(f"/console/tasks/task_bob/credentials{end}")).status_code == 404


async def test_a_consent_is_a_link_that_names_its_host(browser: Browser) -> None:
    page = await begin(browser)
    assert page.status_code == 200
    assert "Go to login.calendar.test</a>" in page.text
    assert parse_qs(urlsplit(read_link(page)).query)["redirect_uri"] == ["https://console.example.com/connected"]


async def test_the_secret_of_a_client_is_on_no_page(browser: Browser) -> None:
    accepted = await begin(browser, client_id="mine", client_secret=SECRET)
    refused = await begin(browser, client_id="m ine", client_secret=SECRET)
    assert (accepted.status_code, refused.status_code) == (200, 422)
    assert SECRET not in accepted.text + refused.text + str(accepted.headers)


async def test_an_address_that_was_pasted_finishes_a_consent(browser: Browser, stage: Stage) -> None:
    page = await begin(browser)
    address = f"https://console.example.com/connected?state={read_state(page)}&code=c0de"
    token = find_callback_token(page)
    sent = await browser.http.post(
        CALLBACK, data={"token": token, "do": "finish", "address": address}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    assert sent.status_code == 303, sent.text
    assert sent.headers["location"].endswith("tasks/task_one/credentials?done=connected")
    assert [(request["task"], request["code"]) for request in stage.connector.requests] == [("task_one", "c0de")]
    assert "CALENDAR_TOKEN" in (await browser.open(PATH)).text


async def test_the_answer_to_a_consent_is_taken_once(browser: Browser, stage: Stage) -> None:
    state = read_state(await begin(browser))
    assert (await browser.open(f"{CALLBACK}?state={state}&code=c0de")).status_code == 303
    assert (await browser.open(f"{CALLBACK}?state={state}&code=c0de")).status_code == 400
    assert len(stage.connector.requests) == 1


async def test_another_session_of_the_same_person_finishes_nothing(browser: Browser, stage: Stage) -> None:
    state = read_state(await begin(browser))
    await browser.sign_in(stage.owner("ann")["Authorization"].removeprefix("Bearer "))
    assert (await browser.open(f"{CALLBACK}?state={state}&code=c0de")).status_code == 400
    assert stage.connector.requests == []


@pytest.mark.parametrize("query", ["", "state=s", f"state={'s' * 43}&code=c", "state=a&state=b&code=c"])
async def test_an_answer_that_nobody_asked_for_is_refused(browser: Browser, stage: Stage, query: str) -> None:
    assert (await browser.open(f"{CALLBACK}?{query}")).status_code == 400
    assert stage.connector.requests == []


async def test_an_answer_at_the_place_of_another_service_is_refused(browser: Browser, stage: Stage) -> None:
    state = read_state(await begin(browser))
    assert (await browser.open(f"/console/consents/dropbox/connected?state={state}&code=c")).status_code == 400
    assert stage.connector.requests == []


async def test_a_consent_that_was_declined_says_so_in_words_of_ours(browser: Browser) -> None:
    state = read_state(await begin(browser))
    page = await browser.open(f"{CALLBACK}?state={state}&error=access_denied&error_description=<b>come+here</b>")
    assert page.status_code == 400
    assert "the authorization response says access_denied" in page.text
    assert "come here" not in page.text


async def test_why_a_consent_was_not_finished_is_said(browser: Browser, stage: Stage) -> None:
    stage.connector.fails = NotConnectedError("the token endpoint answered invalid_grant")
    state = read_state(await begin(browser))
    page = await browser.open(f"{CALLBACK}?state={state}&code=c0de")
    assert (page.status_code, "the token endpoint answered invalid_grant" in page.text) == (409, True)


def test_the_place_of_servers_is_the_one_that_our_document_names() -> None:
    assert locate_callback(MCP) == CONSOLE_CALLBACK


def find_callback_token(page: httpx.Response) -> str:
    match = re.search(r'action="[^"]*connected".*?name="token" value="([^"]*)"', page.text, re.DOTALL)
    assert match is not None
    return match[1]
