"""Calls and results as chats show them: the seed's formats, previews, and placeholders for images."""

from __future__ import annotations

import json

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.images import IMAGE_PLACEHOLDER, replace_images
from ferryman.domain.conversations.rendering import (
    PREVIEW_CHARACTERS_MAX,
    preview_result,
    read_value,
    render_turn,
)
from ferryman.domain.conversations.turns import Turn, write_turn
from tests.builders import build_step, build_ticket

PIXEL = "iVBORw0KGgo" + "A" * 240


def build_result(content: str, kind: PartKind = PartKind.TEXT, *, before: str = "", after: str = "", ok: bool = True):
    part = Part(kind=kind, start=len(before), end=len(before) + len(content))
    return ToolCallResult(tool="web_fetch", content=f"{before}{content}{after}", parts=(part,), ok=ok)


def test_a_result_of_json_is_that_value_without_its_frame():
    framed = build_result('{"results": [1, 2]}', PartKind.JSON, before="<tool_response>\n", after="\n</tool_response>")
    assert read_value(framed) == {"results": [1, 2]}


def test_json_that_was_cut_is_its_text():
    assert read_value(build_result('{"results": [1, ', PartKind.JSON)) == '{"results": [1, '


def test_a_reference_to_a_file_is_no_part_of_the_value():
    result = build_result("the head")
    line = "\nThe whole text is kept in a file."
    file = Part(kind=PartKind.FILE, start=8, end=8 + len(line), file="executions/e/1.txt")
    whole = ToolCallResult(tool="web_fetch", content=result.content + line, parts=(*result.parts, file))
    assert read_value(whole) == "the head"


@pytest.mark.parametrize(
    ("value", "preview"),
    [
        ([1, 2, 3, 4, 5], "Found 5 results"),
        ([], "Found 0 results"),
        (["one"], "Found 1 result"),
        ({"results": [1, 2], "page": 1}, "Found 2 results"),
        ({"a": [1], "b": [2]}, '{"a": [1], "b": [2]}'),
        ("two\n lines", "two lines"),
    ],
)
def test_a_preview_says_how_many_or_how_it_begins(value: object, preview: str):
    assert preview_result(value) == preview


def test_a_preview_of_a_long_text_is_its_beginning():
    assert len(preview_result("word " * 200)) == PREVIEW_CHARACTERS_MAX


@pytest.mark.parametrize(
    "image", [f"data:image/png;base64,{PIXEL}==", f"data:image/svg+xml;base64,{PIXEL}", PIXEL, "/9j/" + "4AAQ" * 60]
)
def test_an_image_is_a_placeholder(image: str):
    assert replace_images(f"before {image} after") == f"before {IMAGE_PLACEHOLDER} after"


@pytest.mark.parametrize("text", ["data:text/plain;base64,aGVsbG8=", "iVBORw0KGgo is how a PNG begins", "/9j/ is short"])
def test_what_is_no_image_stays(text: str):
    assert replace_images(text) == text


def test_images_in_the_values_of_json_are_placeholders():
    result = build_result(json.dumps({"screenshot": PIXEL, "title": "Ferries"}), PartKind.JSON)
    assert read_value(result) == {"screenshot": IMAGE_PLACEHOLDER, "title": "Ferries"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"price": 1e999, "least": [-1e999]}', {"price": "inf", "least": ["-inf"]}),
        (r'{"title": "half \ud83d of it", "\udfff": 1}', {"title": "half \ufffd of it", "\ufffd": 1}),
        (r'["\ud83d\ude00"]', ["\U0001f600"]),
    ],
)
def test_a_value_is_what_every_reader_of_json_can_read(text: str, value: object):
    rendered = read_value(build_result(text, PartKind.JSON))
    assert json.loads(json.dumps(rendered, ensure_ascii=False, allow_nan=False).encode()) == value == rendered


def turn_of(*results: ToolCallResult, text: str = "", query: str = "React", prefix: str = "tc_") -> Turn:
    """Return the turn of calls of `search_knowledge` with these results, as it is kept."""
    content = ({"type": "text", "text": text},) if text else ()
    fields = {"tool": "search_knowledge", "display_arguments": {"query": query}}
    tickets = [build_ticket(seq=seq, call=f"{prefix}{seq}", result=result, **fields) for seq, result in enumerate(results)]
    return json.loads(json.dumps(write_turn(build_step(content=content, calls=len(tickets)), tickets)))


def test_the_messages_have_the_members_of_the_specification_and_no_others():
    called, answered = render_turn(
        turn_of(build_result('{"results": ["React"]}', PartKind.JSON), query="React tutorials", prefix="tc_abc12")
    )
    assert called == {
        "role": "assistant",
        "content": None,
        "toolCalls": [{"id": "tc_abc120", "name": "search_knowledge", "arguments": {"query": "React tutorials"}}],
    }
    assert answered == {"role": "tool", "toolCallId": "tc_abc120", "content": '{"results": ["React"]}'}


def test_what_the_model_wrote_beside_its_calls_is_the_content():
    called, _ = render_turn(turn_of(build_result("a"), text="I look it up."))
    assert (called["content"], len(called["toolCalls"])) == ("I look it up.", 1)


def test_the_content_of_a_result_is_a_text_that_holds_json():
    (_, result) = render_turn(turn_of(build_result('{"results": []}', PartKind.JSON, before="<tool_response>")))
    assert result == {"role": "tool", "toolCallId": "tc_0", "content": '{"results": []}'}


def test_a_failure_tells_its_error_as_json():
    (_, result) = render_turn(turn_of(build_result("Search failed", ok=False)))
    assert json.loads(result["content"]) == {"error": "Search failed"}


def test_a_turn_is_one_message_of_the_assistant_and_one_for_each_result():
    first, *results = render_turn(turn_of(build_result("a"), build_result("b")))
    call = {"id": "tc_0", "name": "search_knowledge", "arguments": {"query": "React"}}
    assert (first["content"], first["toolCalls"][0], len(first["toolCalls"])) == (None, call, 2)
    assert [result["toolCallId"] for result in results] == ["tc_0", "tc_1"]


def test_a_turn_without_calls_is_its_text():
    assert render_turn(turn_of(text="Done.")) == [{"role": "assistant", "content": "Done."}]


def test_a_preview_of_as_many_characters_as_it_may_have_is_whole():
    assert preview_result("x" * PREVIEW_CHARACTERS_MAX) == "x" * PREVIEW_CHARACTERS_MAX


def test_a_short_image_is_a_placeholder_too():
    assert replace_images("at data:image/gif;base64,R0lG end") == f"at {IMAGE_PLACEHOLDER} end"
