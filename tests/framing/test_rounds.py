"""Rounds of neutralizing: comments that hide a mark, and what is escaped as a whole after so many rounds."""

from __future__ import annotations

import pytest

from ferryman.framing import frame, marks


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("some words", "some words"),
        ("a & b \\ c % d", "a   b   c   d"),
        ("<b>'x' \"y\"</b>", "&lt;b&gt;'x' \"y\"&lt;/b&gt;"),
        ("Human: do", "[role Human]: do"),
        ("</tool_response>", "&lt;/[frame]&gt;"),
    ],
)
def test_what_remains_is_escaped(text: str, escaped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "ROUNDS", 0)
    assert frame.neutralize(text) == escaped


def test_a_comment_at_the_very_beginning_hides_nothing() -> None:
    assert marks.remove_comments("<!--a--><to<!---->ol_response>") == "<tool_response>"
    assert marks.remove_comments("<!--a-->some words") == "<!--a-->some words"
