"""What the model of a chat reads of a result: no image, and at most so much of its bodies, in their frames."""

from __future__ import annotations

from ferryman.domain.calls.call import TRUNCATED, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.images import IMAGE_PLACEHOLDER
from ferryman.domain.conversations.reading import fit_result, fit_ticket
from ferryman.domain.executions.surface import CHAT, TASK
from ferryman.framing import frame
from tests.builders import build_settled_ticket

IMAGE = f"data:image/png;base64,{'iVBORw0KGgo' + 'A' * 300}"


def build(body: str, kind: PartKind = PartKind.TEXT, *, before: str = "HTTP 200\n", truncated: bool = False) -> ToolCallResult:
    content = before + frame.wrap(body + (TRUNCATED if truncated else ""), nonce="n", truncated=truncated)
    start = content.index(body)
    return ToolCallResult("http_get", content, parts=(Part(kind=kind, start=start, end=start + len(body)),))


def read_bodies(result: ToolCallResult) -> list[str]:
    return [result.content[part.start : part.end] for part in result.parts]


def test_what_fits_is_the_same_result():
    result = build("a" * 20)
    assert fit_result(result, most=20) is result


def test_a_longer_body_is_cut_and_its_frame_says_so():
    fitted = fit_result(build("a" * 21), most=20)
    assert fitted.content == "HTTP 200\n" + frame.wrap("a" * 20 + TRUNCATED, nonce="n", truncated=True)
    assert read_bodies(fitted) == ["a" * 20]


def test_what_was_cut_already_says_so_once():
    fitted = fit_result(build("a" * 30, truncated=True), most=20)
    assert fitted == build("a" * 20, truncated=True)


def test_json_that_is_cut_is_a_text():
    assert fit_result(build('{"a": "bbbbbbbbbb"}', PartKind.JSON), most=10).parts[0].kind is PartKind.TEXT


def test_images_are_taken_out_before_the_text_is_cut():
    fitted = fit_result(build(f"one {IMAGE} two"), most=40)
    assert read_bodies(fitted) == [f"one {IMAGE_PLACEHOLDER} two"]
    assert TRUNCATED not in fitted.content


def test_json_with_an_image_stays_json():
    fitted = fit_result(build(f'{{"shot": "{IMAGE}"}}', PartKind.JSON), most=100)
    assert (read_bodies(fitted), fitted.parts[0].kind) == ([f'{{"shot": "{IMAGE_PLACEHOLDER}"}}'], PartKind.JSON)


def test_bodies_share_the_characters_and_each_part_is_where_it_says():
    first, second = build("a" * 15), build("b" * 15)
    offset = len(first.content)
    moved = Part(kind=PartKind.TEXT, start=second.parts[0].start + offset, end=second.parts[0].end + offset)
    both = ToolCallResult("http_get", first.content + second.content, parts=(*first.parts, moved))
    assert read_bodies(fit_result(both, most=20)) == ["a" * 15, "b" * 5]


def test_the_line_of_a_kept_file_stays():
    line = "\nThe whole text is kept in a file."
    result = build("a" * 30)
    file = Part(kind=PartKind.FILE, start=len(result.content) + 1, end=len(result.content) + len(line))
    fitted = fit_result(ToolCallResult("http_get", result.content + line, parts=(*result.parts, file)), most=20)
    assert read_bodies(fitted) == ["a" * 20, line[1:]]
    assert fitted.content.endswith(line)


def test_a_task_and_a_search_for_tools_read_all_of_it():
    ticket = build_settled_ticket(result=build("a" * 60_000))
    assert fit_ticket(ticket, TASK, finders=()) is ticket
    assert fit_ticket(ticket, CHAT, finders=(ticket.tool,)) is ticket
    assert fit_ticket(ticket, CHAT, finders=()) is not ticket


def test_a_result_that_only_lost_an_image_is_not_said_to_go_on():
    ticket = build_settled_ticket(result=build(f"one {IMAGE}"))
    fitted = fit_ticket(ticket, CHAT, finders=(), answer=2)
    assert fitted.result is not None
    assert "To read on" not in fitted.result.content


def test_parts_are_read_where_they_are_whatever_their_order():
    result = ToolCallResult(
        "t", "aaabbb", parts=(Part(kind=PartKind.TEXT, start=3, end=6), Part(kind=PartKind.TEXT, start=0, end=3))
    )
    assert read_bodies(fit_result(result, most=4)) == ["aaa", "b"]
