"""Approvals in the console: what is shown of a call, who decides about it, and that nothing but a form of the page decides."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.serving import keys
from tests.builders import build_execution
from tests.serving.asked_questions import ANSWERS, QUESTIONS
from tests.serving.conftest import Stage
from tests.serving.values import build_approval, build_question

from .conftest import SAME_SITE, Browser, find_token

ID, EXECUTION = "appr_waiting", "exec_waiting"
LIST, PATH = "/console/approvals", f"/console/approvals/{ID}"
HOSTILE = "<script>alert(1)</script>\u202e\x1b[2J\u200b"
GISTS = "https://api.github.com/gists"


@pytest.fixture(autouse=True)
def _waiting(stage: Stage) -> None:
    stage.owner("ann")
    approval = build_approval("ann", id=ID, execution=EXECUTION)
    stage.memory.approvals[ID] = approval
    stage.memory.executions[EXECUTION] = build_execution(
        id=EXECUTION, owner="ann", workspace=approval.workspace, slice=3, waiting_for=ID, waiting_since=START
    )


def read_hidden(markup: str) -> dict[str, str]:
    """Return the hidden fields of the form that decides."""
    form = markup.partition('class="decision')[2].partition("</form>")[0]
    return {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)}


async def press(browser: Browser, button: str, path: str = PATH, **fields: str) -> httpx.Response:
    """Open the page, and send its form by one of its buttons."""
    page = await browser.open(path)
    token = find_token(page.text, path, path)
    data = {"sends": "1", "reason": "", **read_hidden(page.text), "token": token, **fields, "do": button}
    return await browser.http.post(path, data=data, headers=SAME_SITE)


def get_state(stage: Stage, name: str = ID) -> ApprovalState:
    return stage.memory.approvals[name].state


async def enter(browser: Browser, headers: dict[str, str]) -> None:
    browser.http.cookies.clear()
    await browser.sign_in(headers["Authorization"].removeprefix("Bearer "))


async def test_who_is_not_signed_in_sees_the_same_whether_there_is_such_an_approval(browser: Browser) -> None:
    browser.http.cookies.clear()
    there, nowhere = await browser.open(PATH), await browser.open(f"{LIST}/appr_nowhere")
    assert there.text.replace(ID, "") == nowhere.text.replace("appr_nowhere", "")
    assert "api.github.com" not in there.text


async def test_what_waits_is_listed_with_its_tool_host_and_agent(browser: Browser) -> None:
    waiting = (await browser.open(LIST)).text.partition('id="waiting"')[2].partition("</section>")[0]
    assert all(text in waiting for text in (ID, "http_post", "api.github.com", "Second", START.isoformat()[:10]))


async def test_what_waits_comes_before_what_was_decided(browser: Browser) -> None:
    page = (await browser.open(LIST)).text
    assert page.index(f'id="open-{ID}"') < page.index('id="open-appr_ann"')


async def test_a_filter_shows_one_state(browser: Browser) -> None:
    page = (await browser.open(f"{LIST}?state=denied")).text
    assert ('id="open-appr_ann"' in page, f'id="open-{ID}"' in page) == (True, False)


async def test_an_unknown_filter_shows_all(browser: Browser) -> None:
    page = await browser.open(f"{LIST}?state=%22%3E%3Cscript%3E")
    assert page.status_code == 200
    assert f'id="open-{ID}"' in page.text


async def test_an_empty_list_says_so(browser: Browser, stage: Stage) -> None:
    stage.memory.approvals.clear()
    assert "Nothing waits for a person." in (await browser.open(LIST)).text


async def test_the_list_of_what_waits_is_a_part_that_is_asked_for_again(browser: Browser) -> None:
    answer = await browser.open(LIST, **{"Ferryman-Parts": "waiting"})
    assert ID in json.dumps(answer.json()["parts"]["waiting"])


async def test_it_shows_what_would_be_sent(browser: Browser, stage: Stage) -> None:
    page = html.unescape((await browser.open(PATH)).text)
    assert all(text in page for text in ("https://api.github.com/gists", "{{secrets.GITHUB_TOKEN}}", "What is sent", "Headers"))
    assert stage.memory.approvals[ID].digest in page


async def test_the_flow_is_a_graph_and_a_list(browser: Browser) -> None:
    page = html.unescape((await browser.open(PATH)).text)
    assert page.count("<rect") == 3
    assert "url = https://api.github.com/gists</bdi> was decided by untrusted words" in page
    assert "⟨U+001B⟩" in page
    assert "\x1b" not in page


async def test_the_difference_to_the_last_one_is_marked(browser: Browser, stage: Stage) -> None:
    before = build_approval("ann", id="appr_before", what=HttpForm(method="PUT", url=GISTS, headers=()))
    stage.memory.approvals["appr_before"] = before
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], before="appr_before")
    page = (await browser.open(PATH)).text
    assert "<del>PUT</del>" in page
    assert "<ins>POST</ins>" in page


@pytest.mark.parametrize(("button", "state"), [("approve", ApprovalState.APPROVED), ("deny", ApprovalState.DENIED)])
async def test_a_button_decides_as_the_api_does(browser: Browser, stage: Stage, button: str, state: ApprovalState) -> None:
    answer = await press(browser, button, reason="I know <b>them</b>.")
    assert answer.status_code == 303
    decided = stage.memory.approvals[ID].decided
    assert (get_state(stage), decided and decided.decision.reason) == (state, "I know <b>them</b>.")
    assert [item.execution for item in stage.queue.waiting] == [EXECUTION, EXECUTION]
    page = (await browser.open(PATH)).text
    assert 'value="approve"' not in page
    assert "I know &lt;b&gt;them&lt;/b&gt;." in page


async def test_after_a_decision_the_next_one_opens(browser: Browser, stage: Stage) -> None:
    stage.memory.approvals["appr_next"] = build_approval("ann", id="appr_next", seq=1)
    answer = await press(browser, "approve")
    assert answer.headers["location"].endswith("approvals/appr_next?done=approved")


async def test_after_the_last_decision_the_list_opens(browser: Browser) -> None:
    answer = await press(browser, "deny")
    assert answer.headers["location"].endswith("console/approvals?done=denied")


async def test_a_decision_leaves_an_entry_in_the_audit_log(browser: Browser, stage: Stage) -> None:
    await press(browser, "approve")
    entries = [(entry.action, entry.targets) for entry in stage.memory.audit.values()]
    assert ("decideApproval", (ID,)) in entries


async def test_one_decision_may_be_for_several_sends(browser: Browser, stage: Stage) -> None:
    await press(browser, "approve", sends="3")
    assert stage.memory.approvals[ID].sends_max == 3


@pytest.mark.parametrize("sends", ["0", "6", "-1", "1e1", "٣", "11111111111111111111", ""])
async def test_any_other_number_of_sends_is_refused(browser: Browser, stage: Stage, sends: str) -> None:
    answer = await press(browser, "approve", sends=sends)
    assert (answer.status_code, get_state(stage)) == (422, ApprovalState.PENDING)
    assert "<b>sends</b> must be 1 to 5" in answer.text


async def test_what_was_typed_stays_where_a_decision_is_refused(browser: Browser) -> None:
    assert 'value="Since &lt;b&gt;."' in (await press(browser, "approve", sends="9", reason="Since <b>.")).text


@pytest.mark.parametrize(
    "scopes", [(Right.READ,), (Right.READ, Right.RUN, Right.MANAGE), (Right.APPROVE,), (Right.RUN,)], ids=str
)
async def test_a_key_without_both_rights_decides_nothing(browser: Browser, stage: Stage, scopes: tuple[Right, ...]) -> None:
    fields = read_hidden((await browser.open(PATH)).text)
    await enter(browser, stage.member(Role.ADMIN, approves=True, scopes=scopes))
    page = (await browser.open(PATH)).text
    assert 'value="approve"' not in page
    token = find_token(page, PATH, PATH) if Right.READ in scopes else fields["token"]
    answer = await browser.http.post(PATH, data={**fields, "token": token, "sends": "1", "do": "approve"}, headers=SAME_SITE)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


async def test_a_right_to_approve_that_was_taken_away_meanwhile_decides_nothing(browser: Browser, stage: Stage) -> None:
    await enter(browser, stage.member(Role.VIEWER, approves=True))
    fields = read_hidden((await browser.open(PATH)).text)
    place, membership = next(item for item in stage.memory.memberships.items() if item[1].approves)
    stage.memory.memberships[place] = replace(membership, approves=False)
    answer = await browser.http.post(PATH, data={**fields, "sends": "1", "do": "approve"}, headers=SAME_SITE)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


async def test_an_approval_of_others_is_answered_as_one_that_is_not_there(browser: Browser, stage: Stage) -> None:
    for headers in (stage.owner("bob"), stage.member(Role.ADMIN, approves=True, workspace="ws_ann")):
        await enter(browser, headers)
        there, nowhere = await browser.open(PATH), await browser.open(f"{LIST}/appr_nowhere")
        assert (there.status_code, there.text) == (404, nowhere.text)


async def test_the_session_of_a_revoked_key_decides_nothing(browser: Browser, stage: Stage) -> None:
    fields = read_hidden((await browser.open(PATH)).text)
    del stage.memory.keys[keys.digest_key(stage.keys["ann"])]
    answer = await browser.http.post(PATH, data={**fields, "do": "approve"}, headers=SAME_SITE)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


async def test_a_form_of_another_session_decides_nothing(browser: Browser, stage: Stage) -> None:
    fields = read_hidden((await browser.open(PATH)).text)
    await enter(browser, stage.owner("ann"))
    answer = await browser.http.post(PATH, data={**fields, "do": "approve"}, headers=SAME_SITE)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
async def test_a_form_without_its_token_decides_nothing(browser: Browser, stage: Stage, token: str) -> None:
    answer = await press(browser, "approve", token=token)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


async def test_the_form_of_another_approval_decides_nothing(browser: Browser, stage: Stage) -> None:
    stage.memory.approvals["appr_other"] = build_approval("ann", id="appr_other", seq=1)
    fields = read_hidden((await browser.open(f"{LIST}/appr_other")).text)
    answer = await browser.http.post(PATH, data={**fields, "do": "approve"}, headers=SAME_SITE)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


@pytest.mark.parametrize(
    "headers",
    [
        *({"Origin": origin} for origin in ("https://evil.example", "null", "https://[", "https://api.test@evil.example")),
        *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")),
    ],
    ids=str,
)
async def test_a_form_that_another_site_sends_decides_nothing(browser: Browser, stage: Stage, headers: dict[str, str]) -> None:
    fields = read_hidden((await browser.open(PATH)).text)
    answer = await browser.http.post(PATH, data={**fields, "sends": "1", "do": "approve"}, headers=headers)
    assert (answer.status_code, get_state(stage)) == (403, ApprovalState.PENDING)


async def test_what_changed_since_it_was_read_is_not_decided_about(browser: Browser, stage: Stage) -> None:
    fields = read_hidden((await browser.open(PATH)).text)
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], digest="1" * 64)
    answer = await browser.http.post(PATH, data={**fields, "sends": "1", "do": "approve"}, headers=SAME_SITE)
    assert (answer.status_code, get_state(stage)) == (422, ApprovalState.PENDING)
    assert "must be the digest of the approval as it is now: read it again before you decide" in answer.text


async def test_nothing_is_decided_while_the_owner_is_halted(browser: Browser, stage: Stage) -> None:
    await stage.deps().halts.put("ann", on=True, now=START)
    answer = await press(browser, "approve")
    assert (answer.status_code, get_state(stage)) == (409, ApprovalState.PENDING)
    assert "nothing is decided" in answer.text


async def test_nothing_is_decided_in_an_archived_workspace(browser: Browser, stage: Stage) -> None:
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], workspace="ws_ann")
    await enter(browser, stage.member(Role.ADMIN, approves=True, workspace="ws_ann"))
    stage.memory.workspaces["ws_ann"] = replace(stage.memory.workspaces["ws_ann"], state=WorkspaceState.ARCHIVED)
    answer = await press(browser, "approve")
    assert (answer.status_code, get_state(stage)) == (409, ApprovalState.PENDING)


async def test_one_whose_time_is_over_says_so(browser: Browser, stage: Stage) -> None:
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], expires_at=stage.clock.now() + timedelta(seconds=1))
    fields = read_hidden((await browser.open(PATH)).text)
    stage.clock.turn(1)
    assert "is over" in (await browser.open(PATH)).text
    answer = await browser.http.post(PATH, data={**fields, "sends": "1", "do": "approve"}, headers=SAME_SITE)
    assert answer.status_code == 410


async def test_a_session_is_of_no_use_at_the_api(browser: Browser, stage: Stage) -> None:
    assert (await browser.open(f"/v1/approvals/{ID}")).status_code == 401
    body = {"verdict": "approve", "digest": stage.memory.approvals[ID].digest}
    assert (await browser.http.post(f"/v1/approvals/{ID}/decision", json=body)).status_code == 401


async def test_an_api_key_in_a_header_is_no_session(browser: Browser, stage: Stage) -> None:
    browser.http.cookies.clear()
    assert "api.github.com" not in (await browser.open(PATH, **stage.owner("ann"))).text


@pytest.mark.parametrize("button", ["edit", "", "sign-in"])
async def test_a_button_that_the_page_does_not_have_does_nothing(browser: Browser, stage: Stage, button: str) -> None:
    assert (await press(browser, button)).status_code == 422
    assert get_state(stage) is ApprovalState.PENDING


async def test_hostile_text_of_a_form_is_text_that_shows(browser: Browser, stage: Stage) -> None:
    form = HttpForm(method="POST", url="https://api.github.com/gists", headers=(("X-Note", HOSTILE),), body=HOSTILE)
    stage.memory.approvals[ID] = build_approval("ann", id=ID, what=form)
    page = (await browser.open(PATH)).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩⟨U+001B⟩[2J⟨U+200B⟩" in page
    assert not any(text in page for text in ("<script>", "\u202e", "\x1b", "\u200b"))


def ask_questions(stage: Stage) -> None:
    stage.memory.approvals[ID] = build_question("ann", *QUESTIONS, id=ID, execution=EXECUTION)


async def test_questions_show_who_asks_what_and_no_link_and_no_markup_of_the_server(browser: Browser, stage: Stage) -> None:
    ask_questions(stage)
    page = (await browser.open(PATH)).text
    readable = html.unescape(page)
    assert all(text in readable for text in ("https://tools.example.com/mcp", "evil.example.com", "For whom?", "desk"))
    assert not any(text in page for text in ("<script>", "<b>how", 'href="https', 'value="approve"'))


async def test_what_is_typed_is_the_signed_answer(browser: Browser, stage: Stage) -> None:
    ask_questions(stage)
    typed = {"q0.0.0": "on", "q0.1": "1", "q0.2": "0", "q0.3": "4"}  # fields as the form has them: sorted by name
    answer = await press(browser, "answer", **typed)
    assert answer.headers["location"].endswith("?done=answered")
    decided = stage.memory.approvals[ID].decided
    assert decided is not None
    assert (get_state(stage), json.loads(decided.decision.edited)) == (ApprovalState.ANSWERED, ANSWERS)


@pytest.mark.parametrize("typed", [{}, {"q0.3": "40", "q0.1": "1"}, {"q0.3": "4", "q0.1": "7"}, {"q0.3": "four", "q0.1": "1"}])
async def test_what_does_not_fit_the_questions_is_no_answer(browser: Browser, stage: Stage, typed: dict[str, str]) -> None:
    ask_questions(stage)
    assert (await press(browser, "answer", **typed)).status_code == 422
    assert stage.memory.approvals[ID].decided is None


async def test_a_person_declines_without_an_answer(browser: Browser, stage: Stage) -> None:
    ask_questions(stage)
    assert (await press(browser, "deny")).status_code == 303
    assert get_state(stage) is ApprovalState.DENIED
