"""What was received cannot steer the terminal, and programs get JSON alone."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
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


STEPS = """
from ferryman.cli.screen import Screen
screen = Screen({json})
with screen.show_progress("reading \\x1b[31ma file", 2):
    screen.print_step("parsing")
    screen.print_step("storing")
screen.print_line("done")
"""


def test_a_progress_bar_is_on_the_terminal_alone() -> None:
    terminal, child_side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", STEPS.format(json="")]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=child_side, env=environment, check=True, text=True)
    on_terminal = os.read(terminal, 65_536).decode()
    os.close(child_side)
    os.close(terminal)
    assert ran.stdout == "parsing …\nstoring …\ndone\n"
    assert "storing" in on_terminal
    assert "━" in on_terminal
    assert "\x1b[31ma file" not in on_terminal


COUNTED = """
from ferryman.cli.screen import Screen
screen = Screen()
with screen.show_progress("making"):
    screen.print_step("planning")
    screen.print_count("bucket: created", 12, 66)
"""


def test_the_bar_is_filled_as_far_as_what_is_counted() -> None:
    terminal, child_side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", COUNTED]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=child_side, env=environment, check=True, text=True)
    on_terminal = os.read(terminal, 65_536).decode()
    os.close(child_side)
    os.close(terminal)
    assert ran.stdout == "planning …\nbucket: created (12 of 66)\n"
    assert "12 of 66: bucket: created" in on_terminal


@pytest.mark.parametrize("json", ["", "as_json=True"])
def test_without_a_terminal_there_is_no_bar(json: str) -> None:
    ran = subprocess.run([sys.executable, "-c", STEPS.format(json=json)], capture_output=True, check=True, text=True)
    assert (ran.stderr, bool(ran.stdout)) == ("", not json)
