"""A turn while the model writes it: what is shown of each block, and what is still to be decided."""

from __future__ import annotations

from ferryman.domain.conversations.live import LiveBlock
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.conversations.writing import WrittenTurn, render_blocks
from ferryman.domain.executions.message import ReplyDelta


def write(*deltas: ReplyDelta, is_scanned: bool = False) -> WrittenTurn:
    turn = WrittenTurn(is_scanned=is_scanned)
    for delta in deltas:
        turn.add(delta)
    return turn


def test_blocks_grow_by_their_deltas() -> None:
    turn = write(ReplyDelta(0, "In "), ReplyDelta(0, "Harwich."), ReplyDelta(2, "", "toolu_1", "http_get"))
    turn.decide_all()
    turn.add(ReplyDelta(2, "{}", "toolu_1", "http_get"))
    turn.decide_all()
    assert turn.read() == (LiveBlock("In Harwich."), LiveBlock("{}", "toolu_1", "http_get"))


def test_a_character_that_two_deltas_share_is_whole() -> None:
    turn = write(ReplyDelta(0, "A \ud83d"))
    turn.decide_all()
    assert turn.read() == (LiveBlock("A "),)
    turn.add(ReplyDelta(0, "\ude00 \ud83d and on"))
    turn.decide_all()
    assert turn.read() == (LiveBlock("A \U0001f600 \ufffd and on"),)


def test_what_is_undecided_is_not_shown() -> None:
    turn = write(ReplyDelta(0, "In Harwich."), is_scanned=True)
    turn.decide([WindowPart("In", 2)])
    assert (turn.read(), turn.list_undecided()) == ((LiveBlock("In"),), [" Harwich."])


def test_the_names_of_a_call_are_decided_first() -> None:
    turn = write(ReplyDelta(0, "{}", "toolu_1", "http_get"), is_scanned=True)
    assert turn.list_undecided() == ["toolu_1 http_get {}"]
    turn.decide([WindowPart("toolu_1 http", 12)])
    assert turn.read() == ()
    turn.decide([WindowPart("toolu_1 http_get {", 18)])
    assert (turn.read(), turn.list_undecided()) == ((LiveBlock("{", "toolu_1", "http_get"),), ["}"])


def test_no_block_is_shown_before_those_in_front_of_it() -> None:
    turn = write(ReplyDelta(0, "{}", "toolu_1", "KEY"), ReplyDelta(1, "and on"), is_scanned=True)
    turn.decide([WindowPart("toolu_1 [x] {}", 14), WindowPart("and on", 6)])
    assert turn.read() == ()


def test_what_comes_during_a_scan_is_undecided() -> None:
    turn = write(ReplyDelta(0, "In"), is_scanned=True)
    texts = turn.list_undecided()
    turn.add(ReplyDelta(0, " Harwich."))
    turn.add(ReplyDelta(1, "Or not."))
    turn.decide([WindowPart(text, len(text)) for text in texts])
    assert turn.list_undecided() == [" Harwich.", "Or not."]


def test_a_turn_that_is_stored_has_the_same_blocks() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "http_get", "input": {"url": "é"}},
    ]
    assert render_blocks(content) == (LiveBlock("I look."), LiveBlock('{"url": "é"}', "toolu_1", "http_get"))
