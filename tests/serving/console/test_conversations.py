"""Conversations in the console: write, answer, edit, stop and read, only for their owner."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.conversations.message import Message
from ferryman.domain.executions.execution import Status
from ferryman.domain.workspaces.member import Right, Role
from ferryman.inmemory.clock import START
from ferryman.serving.console.branches import place_branches
from ferryman.serving.console.live import RelayedEvent
from ferryman.serving.console.pages.conversation import list_reports
from ferryman.serving.console.pages.message import PAGE_CHARACTERS, list_parts
from tests.builders import build_execution
from tests.serving.conftest import Stage
from tests.serving.test_archived_conversations import RESULT
from tests.serving.test_chat import answer
from tests.serving.values import build_approval

from .conftest import SAME_SITE, Browser, find_token

LIST, PATH = "/console/conversations", "/console/conversations/conv_ann"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[2J\u200b [a](javascript:alert(1)) ![i](https://evil.example/b.png)"
MODEL = {"model": "scripted/hello", "tools": "on"}


@pytest.fixture(autouse=True)
def _talked(stage: Stage) -> None:
    stage.owner("ann")


def change_message(stage: Stage, number: int, **changes: Any) -> None:
    known: dict[int, Message] = stage.memory.messages["conv_ann"]
    known[number] = replace(known[number], **changes)


async def say(browser: Browser, **fields: str) -> httpx.Response:
    return await browser.send(PATH, {"do": "say", "content": "And on Sundays?", "live": "1", **MODEL, **fields})


async def enter(browser: Browser, headers: dict[str, str]) -> None:
    browser.http.cookies.clear()
    await browser.sign_in(headers["Authorization"].removeprefix("Bearer "))


def find_article(page: str, number: int) -> str:
    return html.unescape(page.partition(f'id="m-{number}"')[2].partition("</article>")[0])


async def test_conversations_are_listed_with_their_titles(browser: Browser) -> None:
    page = (await browser.open(LIST)).text
    assert "Ferries" in page
    assert "conversations/conv_ann" in page


async def test_a_list_without_conversations_says_so(browser: Browser, stage: Stage) -> None:
    stage.memory.conversations.clear()
    assert "There is no conversation yet." in (await browser.open(LIST)).text


async def test_a_conversation_begins_with_an_agent_and_opens(browser: Browser, stage: Stage) -> None:
    answered = await browser.send(LIST, {"do": "begin", "agent": "agent_ann", "title": "A plan", "once": "a"})
    name = answered.headers["location"].rpartition("/")[2]
    assert (answered.status_code, stage.memory.conversations[name].title) == (303, "A plan")
    assert stage.memory.conversations[name].agent == "agent_ann"


async def test_the_same_form_twice_begins_one_conversation(browser: Browser, stage: Stage) -> None:
    known = len(stage.memory.conversations)
    for _ in range(2):
        await browser.send(LIST, {"do": "begin", "agent": "", "title": "", "once": "the-same"})
    assert len(stage.memory.conversations) == known + 1


async def test_an_agent_that_is_not_there_is_refused_on_the_page(browser: Browser) -> None:
    answered = await browser.send(LIST, {"do": "begin", "agent": "agent_nowhere", "title": ""})
    assert answered.status_code == 404
    assert 'role="alert"' in answered.text


async def test_messages_are_shown_in_their_order(browser: Browser) -> None:
    page = (await browser.open(PATH)).text
    assert page.index("When?") < page.index("At 23:00.")


async def test_what_the_model_wrote_is_markdown_and_no_markup_of_its_own(browser: Browser, stage: Stage) -> None:
    change_message(stage, 2, content=f"**bold** {HOSTILE}")
    page = (await browser.open(PATH)).text
    assert "<strong>bold</strong>" in page
    assert not any(text in page for text in ("<script>", "<img", "\u202e", "\x1b", "\u200b", 'href="javascript'))


async def test_an_answer_is_its_turns_with_calls_and_then_what_it_ended_with(browser: Browser, stage: Stage) -> None:
    invoked = {"id": "toolu_1", "name": "calculator", "arguments": {"expression": "6 * 7"}}
    result = {**RESULT, "call": "toolu_1", "tool": "calculator", "content": "It is 42.", "parts": []}
    turns = ({"text": "I work it out.", "calls": [invoked], "results": [result]},)
    change_message(stage, 2, parts=turns, content="The answer is **42**.")
    page = find_article((await browser.open(PATH)).text, 2)
    places = [page.index(text) for text in ("I work it out.", "calculator", "6 * 7", "It is 42.", "The answer is <strong>42")]
    assert places == sorted(places)


async def test_the_choices_stay_in_the_part_that_a_stream_brings(browser: Browser, stage: Stage) -> None:
    await say(browser)
    await answer(stage, stage.queue.waiting[0].execution)
    stream = (await browser.open(f"{PATH}/live?answer=4&model=scripted%2Fhello&tools=off")).text
    part = json.dumps(read_stream(stream)["parts"]["parts"]["m-4"])
    assert '"name": "model", "value": "scripted/hello"' in part
    assert '"name": "tools"' not in part


async def test_what_a_person_wrote_is_text(browser: Browser, stage: Stage) -> None:
    change_message(stage, 1, content=f"**bold** {HOSTILE}")
    page = (await browser.open(PATH)).text
    assert "**bold** &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not any(text in page for text in ("<script>", "<img", "\u202e", "\x1b", "\u200b"))


async def test_a_hostile_title_is_text(browser: Browser, stage: Stage) -> None:
    stage.memory.conversations["conv_ann"] = replace(stage.memory.conversations["conv_ann"], title=HOSTILE)
    for path in (LIST, PATH):
        page = (await browser.open(path)).text
        assert "&lt;script&gt;alert(1)" in page
        assert not any(text in page for text in ("<script>", "<img", "\u202e", "\x1b"))


async def test_a_long_answer_is_cut_and_a_link_leads_to_all_of_it(browser: Browser, stage: Stage) -> None:
    change_message(stage, 2, content="word " * 5_000 + "end")
    page, whole = (await browser.open(PATH)).text, (await browser.open(f"{PATH}/messages/2")).text
    assert "The first 20000 of 25003 characters." in page
    assert ("word end" in page, "word end" in whole) == (False, True)


async def test_a_text_of_a_million_characters_is_read_in_pages_that_hold_all_of_it(browser: Browser, stage: Stage) -> None:
    content = "".join(f"{number:09d}." for number in range(100_000))
    change_message(stage, 1, content=content)
    parts = []
    for page in range(1, 21):
        markup = (await browser.open(f"{PATH}/messages/1?page={page}")).text
        parts.append(markup.partition('<pre class="foreign whole" dir="auto">')[2].partition("</pre>")[0])
    assert max(map(len, parts)) == PAGE_CHARACTERS
    assert "".join(parts) == content


@pytest.mark.parametrize("page", ["0", "-1", "21", "x", "99999999"])
async def test_another_page_of_a_text_is_the_nearest_one(browser: Browser, stage: Stage, page: str) -> None:
    change_message(stage, 1, content="a" * (20 * PAGE_CHARACTERS))
    assert f"Part {'20' if page == '21' else '1'} of 20" in (await browser.open(f"{PATH}/messages/1?page={page}")).text


@pytest.mark.parametrize(
    "text", ["", "a", "x\n" * 60_000, "\n" * 200_000, "a" * 50_000, "a" * 50_001, "a" * 46_000 + "\n" + "b" * 9_000]
)
def test_the_pages_of_a_text_follow_each_other_and_are_all_of_it(text: str) -> None:
    parts = list_parts(text)
    assert "".join(text[start:end] for start, end in parts) == text
    assert max(end - start for start, end in parts) <= PAGE_CHARACTERS


def test_a_page_of_a_text_ends_with_a_line_where_one_ends_near() -> None:
    assert list_parts("a" * 46_000 + "\n" + "b" * 9_000)[0] == (0, 46_001)


async def test_a_message_is_downloaded_as_it_is(browser: Browser, stage: Stage) -> None:
    change_message(stage, 2, content=HOSTILE)
    answer = await browser.open(f"{PATH}/messages/2/download")
    assert answer.content.decode() == HOSTILE
    assert (answer.headers["content-type"], answer.headers["content-disposition"]) == (
        "text/plain; charset=utf-8",
        'attachment; filename="message-2.txt"',
    )


async def test_a_message_that_is_not_there_is_no_page(browser: Browser) -> None:
    assert (await browser.open(f"{PATH}/messages/7")).status_code == 404


@pytest.mark.parametrize("suffix", ["", "/messages/1", "/messages/1/download", "/live"])
async def test_a_conversation_of_others_is_answered_as_one_that_is_not_there(
    browser: Browser, stage: Stage, suffix: str
) -> None:
    await enter(browser, stage.owner("bob"))
    there, nowhere = await browser.open(PATH + suffix), await browser.open(f"{LIST}/conv_no1{suffix}")
    assert (there.status_code, there.text) == (404, nowhere.text)


async def test_what_is_said_is_asked_with_the_model_and_the_tools_that_are_chosen(browser: Browser, stage: Stage) -> None:
    answered = await say(browser)
    execution = stage.memory.executions[stage.queue.waiting[0].execution]
    assert (answered.status_code, execution.input, execution.model) == (303, "And on Sundays?", "scripted/hello")
    assert execution.enable_tools


async def test_without_the_tools_switch_the_answer_is_made_without_tools(browser: Browser, stage: Stage) -> None:
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    fields = {"do": "say", "content": "Hello", "model": "scripted/hello", "live": "1", "token": token}
    answered = await browser.http.post(PATH, data=fields, headers=SAME_SITE)
    assert not stage.memory.executions[stage.queue.waiting[0].execution].enable_tools
    assert "tools=off" in answered.headers["location"]


async def test_a_link_inside_the_conversation_keeps_the_choices(browser: Browser) -> None:
    page = html.unescape((await browser.open(f"{PATH}?tools=off&model=scripted%2Fhello")).text)
    assert "?branch=2&edit=1&model=scripted/hello&tools=off#f-edit" in page


async def test_the_choices_stay_for_the_next_message(browser: Browser) -> None:
    page = (await browser.open(f"{PATH}?tools=off&model=scripted%2Fhello")).text
    assert 'role="switch">' in page
    assert '<option value="scripted/hello" selected>' in page


async def test_without_a_script_the_answer_is_waited_for(browser: Browser, stage: Stage, app: FastAPI) -> None:
    answered = await say(browser, live="")
    assert answered.status_code == 303
    await answer(stage, stage.queue.waiting[0].execution, "At noon.")
    assert "At noon." in find_article((await browser.open(PATH)).text, 4)


async def test_an_answer_that_is_written_has_a_place_and_a_stop(browser: Browser) -> None:
    await say(browser)
    article = find_article((await browser.open(PATH)).text, 4)
    assert 'data-live="../../console/conversations/conv_ann/live?answer=4"' in article
    assert 'value="stop"' in article


async def test_to_stop_ends_the_answer(browser: Browser, stage: Stage) -> None:
    await say(browser)
    execution = stage.queue.waiting[0].execution
    answered = await browser.send(PATH, {"do": "stop", "number": "4"})
    assert answered.headers["location"].endswith("?done=stopped")
    assert stage.memory.executions[execution].status is Status.KILLED


async def test_a_message_that_is_refused_stays_in_its_field(browser: Browser, stage: Stage) -> None:
    answered = await say(browser, model="nobody/knows", content="Do not <lose> this")
    assert answered.status_code == 422
    assert "Do not &lt;lose&gt; this</textarea>" in answered.text
    assert not stage.memory.executions


async def test_the_same_form_twice_asks_once(browser: Browser, stage: Stage) -> None:
    for _ in range(2):
        await say(browser, once="the-same")
    assert len(stage.memory.executions) == 1


async def test_an_edit_begins_a_branch_that_one_switches_to(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "edit", "number": "1", "content": "Where?", "live": "1", **MODEL})
    await answer(stage, stage.queue.waiting[0].execution, "At the pier.")
    page = (await browser.open(PATH)).text
    assert "2 of 2" in find_article(page, 3)
    assert "?branch=2" in find_article(page, 3)
    other = (await browser.open(f"{PATH}?branch=2")).text
    assert "1 of 2" in find_article(other, 1)
    assert "At 23:00." in other
    assert 'name="after" value="2"' in other


async def test_another_answer_is_a_branch(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "regenerate", "number": "2", "live": "1", **MODEL})
    await answer(stage, stage.queue.waiting[0].execution, "At 22:00.")
    assert "2 of 2" in find_article((await browser.open(PATH)).text, 3)
    assert "1 of 2" in find_article((await browser.open(f"{PATH}?branch=2")).text, 2)


async def test_a_message_to_edit_is_in_a_form(browser: Browser) -> None:
    assert "When?</textarea>" in find_article((await browser.open(f"{PATH}?edit=1")).text, 1)


async def test_a_file_of_the_workspace_is_attached(browser: Browser, stage: Stage) -> None:
    assert 'name="file" value="notes.md"' in (await browser.open(f"{PATH}?attach=1")).text
    await say(browser, file="notes.md")
    assert [file.key for file in stage.memory.messages["conv_ann"][3].attachments] == ["notes.md"]


async def test_a_file_that_was_just_uploaded_can_be_chosen(browser: Browser) -> None:
    page = (await browser.open(f"{PATH}?done=uploaded")).text
    assert 'name="file" value="notes.md"' in page
    assert f'name="next" value="{PATH}"' in page


async def test_a_call_that_waits_is_decided_about_in_the_conversation(browser: Browser, stage: Stage) -> None:
    execution = build_execution(id="exec_chat", owner="ann", slice=3, waiting_for="appr_chat", waiting_since=START)
    approval = build_approval("ann", id="appr_chat", execution="exec_chat", conversation="conv_ann")
    stage.memory.executions["exec_chat"] = replace(execution, workspace=approval.workspace)
    stage.memory.approvals["appr_chat"] = approval
    fields = {"do": "approve", "digest": approval.digest, "sends": "1", "from": "chat"}
    answered = await browser.send("/console/approvals/appr_chat", fields)
    assert answered.headers["location"].endswith("/console/conversations/conv_ann")


async def test_a_conversation_is_renamed(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "rename", "title": "Boats"})
    assert stage.memory.conversations["conv_ann"].title == "Boats"


async def test_an_empty_title_is_refused(browser: Browser, stage: Stage) -> None:
    answered = await browser.send(PATH, {"do": "rename", "title": " "})
    assert (answered.status_code, stage.memory.conversations["conv_ann"].title) == (422, "Ferries")
    assert "must not be empty" in answered.text


async def test_a_conversation_is_deleted_by_a_job(browser: Browser, stage: Stage) -> None:
    answered = await browser.send(PATH, {"do": "delete"})
    assert answered.headers["location"].endswith("/console/conversations?done=deleting")
    assert any(job.kind == "delete_conversation" for job in stage.memory.jobs.values())


async def test_who_may_only_read_has_no_form_to_write(browser: Browser, stage: Stage) -> None:
    await enter(browser, stage.member(Role.VIEWER, scopes=(Right.READ,)))
    page = (await browser.open(PATH)).text
    assert "lacks the right to run" in page
    assert not any(f'value="{action}"' in page for action in ("say", "edit", "regenerate", "rename", "delete"))


async def test_a_form_without_its_token_says_nothing(browser: Browser, stage: Stage) -> None:
    fields = {"do": "say", "content": "Hello", "token": "0" * 64, **MODEL}
    answered = await browser.http.post(PATH, data=fields, headers=SAME_SITE)
    assert (answered.status_code, stage.memory.executions) == (403, {})


async def test_the_end_of_an_answer_comes_as_its_rendered_part(browser: Browser, stage: Stage) -> None:
    await say(browser)
    await answer(stage, stage.queue.waiting[0].execution, "At **noon**.")
    events = read_stream((await browser.open(f"{PATH}/live?answer=4")).text)
    tree = json.dumps(events["parts"]["parts"]["m-4"])
    assert '["strong", {}, ["noon"]]' in tree
    assert "data-live" not in tree


async def test_a_stream_of_which_everything_was_seen_is_over(browser: Browser, stage: Stage) -> None:
    await say(browser)
    await answer(stage, stage.queue.waiting[0].execution)
    stream = (await browser.open(f"{PATH}/live?answer=4")).text
    last = stream.rpartition("id: ")[2].partition("\n")[0]
    assert read_stream((await browser.open(f"{PATH}/live?answer=4", **{"Last-Event-ID": last})).text) == {"end": {}}


def test_how_far_a_call_is_is_the_newest_report_with_every_character_to_be_seen() -> None:
    events = [report("toolu_1", 1, None, "a"), report("toolu_2", 3, 4, ""), report("toolu_1", 2.5, 10, "half\u202e<b>")]
    assert list_reports(events) == [["toolu_1", "2.5 of 10: half⟨U+202E⟩<b>"], ["toolu_2", "3 of 4"]]


def report(call: str, done: float, total: float | None, message: str) -> RelayedEvent:
    data = {"type": "tool_progress", "toolCallId": call, "done": done, "total": total, "message": message}
    return RelayedEvent(id="", kind="message", data=data)


def read_stream(text: str) -> Mapping[str, Any]:
    """Return the last body of each kind of event."""
    bodies = {}
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in fields:
            bodies[fields["event"]] = json.loads(fields["data"])
    return bodies


def test_branches_end_with_their_newest_messages() -> None:
    parents = {1: 0, 2: 1, 3: 1, 4: 3, 5: 0, 6: 5}
    assert place_branches(parents, [1, 2]) == {
        1: {"index": 1, "count": 2, "before": None, "after": 6},
        2: {"index": 1, "count": 2, "before": None, "after": 4},
    }
