"""Spaces and hidden characters of texts that others wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.foreign_text import show_block, show_phrase


@pytest.mark.parametrize(
    ("text", "shown_text"),
    [
        (" and ", " and "),
        (" ", " "),
        ("  two", " ⟨U+0020⟩two"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
    ],
)
def test_a_phrase_keeps_the_spaces_between_words(text: str, shown_text: str) -> None:
    assert show_phrase(text) == shown_text


@pytest.mark.parametrize(
    ("text", "shown_text"),
    [
        ('{\n  "a": 1\n}', '{\n  "a": 1\n}'),
        ("\tgo\r\n", "\tgo\n"),
        ("a\x1b[2J", "a⟨U+001B⟩[2J"),
        (" " * 81 + "far", " " * 80 + "⟨U+0020⟩far"),
    ],
)
def test_a_block_keeps_its_lines_and_indents(text: str, shown_text: str) -> None:
    assert show_block(text) == shown_text


@given(st.text(alphabet=st.sampled_from(" \ta⟨\u202e\u200b\x1b\u0301é"), max_size=40))
def test_nothing_but_spaces_and_tabs_at_the_start_is_left_as_it_is(text: str) -> None:
    rest = text.lstrip(" \t")
    assert show_block(text).lstrip(" \t") == (show_text(rest) if rest else "")
