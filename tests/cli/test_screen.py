"""What was received cannot steer the terminal, and programs get JSON alone."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.cli.screen import HIDDEN, Screen, neutralize_controls, shorten


@given(st.text())
def test_no_character_that_steers_is_left(text: str) -> None:
    assert not {control for control in neutralize_controls(text) if unicodedata.category(control) in HIDDEN} - {"\n", "\t"}


@given(st.text(), st.integers(min_value=1, max_value=80))
def test_short_text_is_one_line_of_at_most_so_many_characters(text: str, most: int) -> None:
    cut = shorten(text, most)
    assert len(cut) <= most
    assert "\n" not in cut


def test_markup_in_what_was_received_is_only_text(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().print_line("[bold]not bold[/bold] [link=https://a.example]x[/link]")
    assert capsys.readouterr().out == "[bold]not bold[/bold] [link=https://a.example]x[/link]\n"


def test_programs_see_json_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(as_json=True)
    screen.print_line("for people")
    screen.print_table([{"a": 1}], "a", empty="none")
    screen.print_json({"a": "\x1b"})
    assert capsys.readouterr().out == '{"a": "\\u001b"}\n'
