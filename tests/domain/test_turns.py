"""Turns of an answer: what later prompts have of them, and what of them fits into one document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.conversations.message import AnswerState, Attachment, Message, Speaker
from ferryman.domain.conversations.turns import (
    ANY_TYPE,
    Turn,
    build_history,
    fit_turns,
    read_result,
    write_question,
    write_turn,
)
from ferryman.domain.files.keys import clean_key
from ferryman.domain.urls.tokens import list_urls
from tests.builders import START, build_settled_ticket, build_step, build_ticket

CALL = {"id": "tc_1", "name": "web_fetch", "arguments": {"url": "https://a.test/"}}


def build_turn(content: str = "<tool_response>a page</tool_response>", *, settled: bool = True) -> Turn:
    result = {"call": "tc_1", "name": "web_fetch", "ok": True, "content": content, "parts": []}
    return {"text": "Let me look.", "calls": [CALL], "results": [result] if settled else []}


def write(number: int, role: Speaker, content: str, **fields: Any) -> Message:
    return Message(conversation="c", number=number, parent=number - 1, role=role, at=START, content=content, **fields)


def test_a_result_is_read_as_its_call_had_it():
    ticket = build_settled_ticket(seq=0)
    turn = json.loads(json.dumps(write_turn(build_step(calls=1), [ticket])))
    result = read_result(turn["results"][0])
    assert ticket.result is not None
    assert (result.content, result.ok) == (ticket.result.content, ticket.result.ok)
    assert [(part.kind, part.start, part.end) for part in result.parts] == [
        (part.kind, part.start, part.end) for part in ticket.result.parts
    ]


def test_calls_that_a_call_asked_for_are_not_told_apart():
    tickets = [build_settled_ticket(seq=0), build_settled_ticket(seq=1, parent=0)]
    assert len(write_turn(build_step(calls=1), tickets)["calls"]) == 1


def test_an_answer_is_read_with_the_frames_of_its_results():
    branch = [write(1, Speaker.USER, "Well?"), write(2, Speaker.ASSISTANT, "It rains.", parts=(build_turn(),))]
    question, call, result, answer = build_history(branch)
    assert (question["content"], answer["content"]) == ("Well?", "It rains.")
    assert call["content"][1] == {"type": "tool_use", "id": "tc_1", "name": "web_fetch", "input": CALL["arguments"]}
    assert result["content"][0]["content"] == "<tool_response>a page</tool_response>"


def test_speakers_take_turns_also_where_an_answer_has_no_words():
    stopped = write(2, Speaker.ASSISTANT, "", state=AnswerState.STOPPED)
    branch = [write(1, Speaker.USER, "a"), stopped, write(3, Speaker.USER, "b"), write(4, Speaker.ASSISTANT, "c")]
    history = build_history(branch)
    assert [message["role"] for message in history] == ["user", "assistant"] * 2
    assert history[1]["content"] == "[no answer: it was stopped]"


def test_a_call_without_a_result_has_one_for_the_model():
    branch = [write(1, Speaker.USER, "a"), write(2, Speaker.ASSISTANT, "b", parts=(build_turn(settled=False),))]
    assert build_history(branch)[2]["content"][0]["is_error"]


def test_the_oldest_results_give_way():
    turns = [build_turn("a" * 400), build_turn("b" * 400), build_turn("c" * 400)]
    fitted = fit_turns(turns, execution="exec_1", most=900)
    contents = [turn["results"][0]["content"] for turn in fitted]
    assert contents[1:] == ["b" * 400, "c" * 400]
    assert contents[0] == "[400 characters of web_fetch: see the record of execution exec_1]"


def test_what_fits_is_as_it_was():
    turns = [build_turn("a" * 400)]
    assert list(fit_turns(turns, execution="exec_1", most=400)) == turns


def test_a_result_that_was_refused_is_a_failure():
    refused = ToolCallResult(tool="web_fetch", content="Error: no", ok=False)
    turn = write_turn(build_step(calls=1), [build_ticket(seq=0, result=refused)])
    assert turn["results"][0]["ok"] is False


def test_a_result_that_failed_is_a_failure_to_the_model():
    turn = build_turn("HTTP 500")
    failed = {**turn, "results": [{**turn["results"][0], "ok": False}]}
    branch = [write(1, Speaker.USER, "a"), write(2, Speaker.ASSISTANT, "b", parts=(failed,))]
    assert build_history(branch)[2]["content"][0]["is_error"]


def test_a_turn_without_calls_is_read_as_the_text_that_the_answer_ends_with():
    turn = {"text": "It rains.", "calls": [], "results": []}
    branch = [write(1, Speaker.USER, "a"), write(2, Speaker.ASSISTANT, "It rains.", parts=(turn,))]
    assert [message["content"] for message in build_history(branch)] == ["a", "It rains."]


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("text/plain; charset=utf-8", "text/plain"),
        ("image/svg+xml", "image/svg+xml"),
        ("text/plain; see=https://evil.test/?secret", "text/plain"),
        ("https://evil.test/?secret", ANY_TYPE),
        ("text/https://evil.test/?secret", ANY_TYPE),
        ("", ANY_TYPE),
    ],
)
def test_the_type_of_an_attachment_is_no_url_that_a_person_wrote(content_type: str, name: str) -> None:
    key = clean_key("https://evil.test/?secret")
    question = write_question("Read it.", (Attachment(key=key, etag="1", media_type=content_type, size_bytes=3),))
    assert json.loads(question.splitlines()[-1]) == {"key": key, "type": name, "bytes": 3, "version": "1"}
    assert list(list_urls(question)) == []
