"""Tables where nobody has a window: a line a row, whatever the width is said to be; and what is said of a planted key."""

from __future__ import annotations

import pytest

from ferryman.cli.demo.play import show
from ferryman.cli.demo.proof import Searched
from ferryman.cli.demo.story import planted
from ferryman.cli.executions import LISTED, row
from ferryman.cli.screen import Screen

RECORD = {
    "execution_id": "exec_" + "0123456789" * 3,
    "task_id": "task_" + "0123456789" * 3,
    "status": "completed",
    "created_at": "2026-11-21T12:00:05.123456Z",
    "iterations": 12,
    "tool_calls_total": 50,
    "credits_used": "103.12345678",
}


def test_each_execution_is_one_line_for_a_program_that_reads_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    Screen().lines([row(RECORD), row(RECORD)], *LISTED)
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == list(LISTED)
    assert [row.split() for row in rows] == [
        [RECORD["execution_id"], "completed", "2026-11-21", "12:00", "12", "50", "103.1235"]
    ] * 2


def test_a_cell_with_line_breaks_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().table([{"a": "x\ny", "b": None}, {"a": "z", "b": 1}], "a", "b", empty="none")
    assert capsys.readouterr().out.splitlines() == ["a    b", "x y  -", "z    1"]


def test_a_terminal_of_80_columns_breaks_no_cell_of_an_execution(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().lines([row(RECORD)], *LISTED)
    line = capsys.readouterr().out.splitlines()[1]
    assert f"{line[:80]} {line[80:]}".split() == line.split()


def test_a_table_is_not_folded_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    Screen().table([{"name": "x" * 30, "description": "y" * 60}], "name", "description", empty="none")
    assert capsys.readouterr().out.splitlines()[1:] == ["x" * 30 + "  " + "y" * 60]


def test_no_character_of_a_planted_key_is_shown() -> None:
    sealed = {"name": "LUNARCRUSH_API_KEY", "allowed_domains": ["lunarcrush.com"]}
    assert planted(sealed) == "LUNARCRUSH_API_KEY (random, planted), sealed for lunarcrush.com alone"


def test_the_proof_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    clean = [Searched(place="that header at other hosts than lunarcrush.com", things=2, size_bytes=1_167_754, found=0)]
    show(Screen(), clean, Searched(place="header authorization at lunarcrush.com", things=2, size_bytes=102, found=2))
    head, *rows = capsys.readouterr().out.splitlines()[2:]
    assert head.split() == ["place", "searched", "bytes", "found"]
    assert [row.split()[-3:] for row in rows] == [["2", "1,167,754", "0"], ["2", "102", "2"]]
