"""The approval page: who sees it, who decides with it, and that nothing but a form of a signed-in person decides."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.ports.keys import KeyPurpose
from ferryman.serving import keys
from ferryman.serving.api.approval_page.session import LIFETIME, read_cookie, write_cookie
from ferryman.vault.purpose_keys import derive_purpose_key
from tests.builders import build_execution

from .conftest import Stage
from .values import API_KEY, build_approval

ID, EXECUTION = "appr_waiting", "exec_waiting"
PATH = f"/approvals/{ID}"
DIGEST = build_approval("ann").digest
SESSIONS = {1: derive_purpose_key(API_KEY, KeyPurpose.SESSIONS)}


@pytest.fixture(autouse=True)
def _waiting(stage: Stage) -> None:
    stage.owner("ann")
    approval = build_approval("ann", id=ID, execution=EXECUTION)
    stage.memory.approvals[ID] = approval
    stage.memory.executions[EXECUTION] = build_execution(
        id=EXECUTION, owner="ann", workspace=approval.workspace, slice=3, waiting_for=ID, waiting_since=START
    )


@pytest.fixture
async def browser(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as client:
        yield client


async def sign_in(browser: httpx.AsyncClient, headers: dict[str, str], path: str = PATH) -> httpx.Response:
    key = headers["Authorization"].removeprefix("Bearer ")
    return await browser.post(path, data={"do": "sign-in", "key": key})


def read_form(page: str) -> dict[str, str]:
    """Return the hidden fields of a page."""
    return {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}


async def press(browser: httpx.AsyncClient, button: str, **fields: str) -> httpx.Response:
    """Open the page, and send its form by one of its buttons."""
    page = await browser.get(PATH)
    return await browser.post(PATH, data={**read_form(page.text), "sends": "1", "reason": "", **fields, "do": button})


async def test_who_is_not_signed_in_sees_the_same_whether_there_is_such_an_approval(browser: httpx.AsyncClient) -> None:
    there, nowhere = await browser.get(PATH), await browser.get("/approvals/appr_nowhere")
    assert (there.status_code, there.text) == (nowhere.status_code, nowhere.text)
    assert "api.github.com" not in there.text


async def test_a_session_is_a_cookie_that_no_script_reads_and_no_other_site_sends(
    browser: httpx.AsyncClient, stage: Stage
) -> None:
    answer = await sign_in(browser, stage.owner("ann"))
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, ID)
    assert cookie.startswith("__Host-ferryman=")
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/", "Max-Age=3600"} <= {part.strip() for part in cookie.split(";")}
    assert stage.keys["ann"] not in cookie


async def test_it_shows_what_would_be_sent(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    page = html.unescape((await browser.get(PATH)).text)
    assert "https://api.github.com/gists" in page
    assert "Bearer ⟨secret GITHUB_TOKEN⟩" in page or "{{secrets.GITHUB_TOKEN}}" in page
    assert DIGEST in page


@pytest.mark.parametrize(("button", "state"), [("approve", ApprovalState.APPROVED), ("deny", ApprovalState.DENIED)])
async def test_a_button_decides_as_the_api_does(
    browser: httpx.AsyncClient, stage: Stage, button: str, state: ApprovalState
) -> None:
    await sign_in(browser, stage.owner("ann"))
    answer = await press(browser, button, reason="I know <b>them</b>.")
    assert (answer.status_code, answer.headers["location"]) == (303, ID)
    decided = stage.memory.approvals[ID]
    assert (decided.state, decided.decided and decided.decided.decision.reason) == (state, "I know <b>them</b>.")
    assert [item.execution for item in stage.queue.waiting] == [EXECUTION, EXECUTION]
    page = (await browser.get(PATH)).text
    assert f"{state} by owner" in page
    assert 'value="approve"' not in page
    assert "I know &lt;b&gt;them&lt;/b&gt;." in page


async def test_a_decision_leaves_an_entry_in_the_audit_log(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    await press(browser, "approve")
    assert [(entry.action, entry.targets) for entry in stage.memory.audit.values()] == [("decideApproval", (ID,))]


async def test_one_decision_may_be_for_several_sends(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    await press(browser, "approve", sends="3")
    assert stage.memory.approvals[ID].sends_max == 3


@pytest.mark.parametrize("sends", ["0", "6", "-1", "1e1", "٣", "11111111111111111111", ""])
async def test_any_other_number_of_sends_is_refused(browser: httpx.AsyncClient, stage: Stage, sends: str) -> None:
    await sign_in(browser, stage.owner("ann"))
    answer = await press(browser, "approve", sends=sends)
    assert (answer.status_code, stage.memory.approvals[ID].state) == (422, ApprovalState.PENDING)
    assert "sends: must be 1 to 5" in answer.text


@pytest.mark.parametrize(
    "scopes", [(Right.READ,), (Right.READ, Right.RUN, Right.MANAGE), (Right.APPROVE,), (Right.RUN,)], ids=str
)
async def test_a_key_without_both_rights_decides_nothing(
    browser: httpx.AsyncClient, stage: Stage, scopes: tuple[Right, ...]
) -> None:
    # with the form of somebody who may decide, in a session of one who may not
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get(PATH)).text)
    browser.cookies.clear()
    await sign_in(browser, stage.member(Role.ADMIN, approves=True, scopes=scopes))
    page = (await browser.get(PATH)).text
    assert 'value="approve"' not in page
    fresh = read_form(page)
    for fields in (form, {**form, **fresh}):
        answer = await browser.post(PATH, data={**fields, "sends": "1", "do": "approve"})
        assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)


async def test_a_right_to_approve_that_was_taken_away_meanwhile_decides_nothing(
    browser: httpx.AsyncClient, stage: Stage
) -> None:
    await sign_in(browser, stage.member(Role.VIEWER, approves=True))
    form = read_form((await browser.get(PATH)).text)
    place, membership = next(item for item in stage.memory.memberships.items() if item[1].approves)
    stage.memory.memberships[place] = replace(membership, approves=False)
    answer = await browser.post(PATH, data={**form, "do": "approve"})
    assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)


async def test_an_approval_of_others_is_answered_as_one_that_is_not_there(browser: httpx.AsyncClient, stage: Stage) -> None:
    for headers in (stage.owner("bob"), stage.member(Role.ADMIN, approves=True, workspace="ws_ann")):
        await sign_in(browser, headers)
        there, nowhere = await browser.get(PATH), await browser.get("/approvals/appr_nowhere")
        assert (there.status_code, there.text) == (404, nowhere.text)


async def test_the_session_of_a_revoked_key_is_over(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get(PATH)).text)
    del stage.memory.keys[keys.digest_key(stage.keys["ann"])]
    answer = await browser.post(PATH, data={**form, "do": "approve"})
    assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)
    assert "was revoked" in answer.text
    assert 'ferryman=""; ' in answer.headers["set-cookie"]


async def test_a_session_is_over_after_an_hour(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    cookie = browser.cookies["__Host-ferryman"]
    stage.clock.turn(LIFETIME.total_seconds())
    browser.cookies.set("__Host-ferryman", cookie)
    assert "Your session is over" in (await browser.get(PATH)).text


async def test_a_cookie_with_any_other_character_is_none(stage: Stage) -> None:
    cookie = write_cookie(SESSIONS, "0" * 64, now=START)
    assert read_cookie(SESSIONS, cookie, now=START) is not None
    for place, character in enumerate(cookie):
        forged = cookie[:place] + ("1" if character != "1" else "2") + cookie[place + 1 :]
        assert read_cookie(SESSIONS, forged, now=START) is None
    assert read_cookie(SESSIONS, cookie, now=START + LIFETIME) is None
    assert read_cookie({2: SESSIONS[1]}, cookie, now=START) is None


async def test_a_form_of_another_session_decides_nothing(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get(PATH)).text)
    await sign_in(browser, stage.owner("ann"))
    answer = await browser.post(PATH, data={**form, "do": "approve"})
    assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
async def test_a_form_without_its_token_decides_nothing(browser: httpx.AsyncClient, stage: Stage, token: str) -> None:
    await sign_in(browser, stage.owner("ann"))
    answer = await press(browser, "approve", token=token)
    assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)


async def test_the_token_of_another_approval_decides_nothing(browser: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.approvals["appr_other"] = build_approval("ann", id="appr_other", seq=1)
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get("/approvals/appr_other")).text)
    answer = await browser.post(PATH, data={**form, "do": "approve"})
    assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)


@pytest.mark.parametrize(
    "headers",
    [
        *({"Origin": origin} for origin in ("https://evil.example", "null", "https://[", "https://api.test@evil.example")),
        *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")),
    ],
    ids=str,
)
@pytest.mark.parametrize("button", ["approve", "sign-in"])
async def test_a_form_that_another_site_sends_does_nothing(
    browser: httpx.AsyncClient, stage: Stage, headers: dict[str, str], button: str
) -> None:
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get(PATH)).text)
    fields = {**form, "key": stage.keys["ann"], "do": button}
    answer = await browser.post(PATH, data=fields, headers=headers)
    assert (answer.status_code, stage.memory.approvals[ID].state) == (403, ApprovalState.PENDING)
    assert "set-cookie" not in answer.headers


async def test_what_changed_since_it_was_read_is_not_decided_about(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get(PATH)).text)
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], digest="1" * 64)
    answer = await browser.post(PATH, data={**form, "do": "approve"})
    assert (answer.status_code, stage.memory.approvals[ID].state) == (422, ApprovalState.PENDING)


async def test_nothing_is_decided_while_the_owner_is_halted(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    await stage.deps().halts.put("ann", on=True, now=START)
    answer = await press(browser, "approve")
    assert (answer.status_code, stage.memory.approvals[ID].state) == (409, ApprovalState.PENDING)


async def test_nothing_is_decided_in_an_archived_workspace(browser: httpx.AsyncClient, stage: Stage) -> None:
    approval = replace(stage.memory.approvals[ID], workspace="ws_ann")
    stage.memory.approvals[ID] = approval
    stage.memory.workspaces["ws_ann"] = replace(stage.memory.workspaces["ws_ann"], state=WorkspaceState.ARCHIVED)
    await sign_in(browser, stage.owner("ann"))
    answer = await press(browser, "approve")
    assert (answer.status_code, stage.memory.approvals[ID].state) == (409, ApprovalState.PENDING)


async def test_one_whose_time_is_over_says_so(browser: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], expires_at=stage.clock.now() + timedelta(seconds=1))
    await sign_in(browser, stage.owner("ann"))
    form = read_form((await browser.get(PATH)).text)
    stage.clock.turn(1)
    assert "is over" in (await browser.get(PATH)).text
    assert (await browser.post(PATH, data={**form, "do": "approve"})).status_code == 410


async def test_a_session_is_of_no_use_at_the_api(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    assert (await browser.get(f"/v1/approvals/{ID}")).status_code == 401
    body = {"verdict": "approve", "digest": DIGEST}
    assert (await browser.post(f"/v1/approvals/{ID}/decision", json=body)).status_code == 401


async def test_an_api_key_in_a_header_is_no_session(browser: httpx.AsyncClient, stage: Stage) -> None:
    page = await browser.get(PATH, headers=stage.owner("ann"))
    assert "api.github.com" not in page.text


@pytest.mark.parametrize("name", ["%2F%2Fevil.example", "..%2F", "https:evil.example", "a%0d%0aLocation:%20x", "é", "a" * 65])
async def test_signing_in_leads_nowhere_else(browser: httpx.AsyncClient, stage: Stage, name: str) -> None:
    answer = await sign_in(browser, stage.owner("ann"), f"/approvals/{name}")
    assert answer.status_code == 404
    assert "location" not in answer.headers


@pytest.mark.parametrize("key", ["", "fm_", "x", "fm_" + "a" * 43, "é" * 10])
async def test_what_is_no_key_signs_nobody_in(browser: httpx.AsyncClient, key: str) -> None:
    answer = await browser.post(PATH, data={"do": "sign-in", "key": key})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"do=approve&do=deny", "application/x-www-form-urlencoded", 400),
        (b"do=%ff", "application/x-www-form-urlencoded", 400),
        (b"\xff", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 11, "application/x-www-form-urlencoded", 400),
        (b"do=edit", "application/x-www-form-urlencoded", 422),
        (b"", "application/x-www-form-urlencoded", 422),
        (b'{"do": "approve"}', "application/json", 415),
        (b"do=" + b"a" * 20_000, "application/x-www-form-urlencoded", 413),
    ],
)
async def test_what_is_no_form_of_the_page_is_refused(browser: httpx.AsyncClient, body: bytes, kind: str, status: int) -> None:
    answer = await browser.post(PATH, content=body, headers={"Content-Type": kind})
    assert answer.status_code == status


async def test_another_method_is_answered_with_those_it_takes(browser: httpx.AsyncClient) -> None:
    answer = await browser.put(PATH)
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD", "POST"})


async def test_signing_out_ends_the_session_of_the_browser(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"))
    await browser.post(PATH, data={"do": "sign-out"})
    assert "Sign in" in (await browser.get(PATH)).text
