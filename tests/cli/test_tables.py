"""Tables where nobody has a window: a line a row, whatever the width is said to be; and what is said of a planted key."""

from __future__ import annotations

import pytest

from ferryman.cli.demo.proof import SearchResult
from ferryman.cli.demo.scenario import print_proof
from ferryman.cli.demo.story import describe_credential
from ferryman.cli.executions import LISTED, build_row
from ferryman.cli.screen import Screen

RECORD = {
    "execution_id": "exec_" + "0123456789" * 3,
    "task_id": "task_" + "0123456789" * 3,
    "status": "completed",
    "created_at": "2026-11-21T12:00:05.123456Z",
    "iterations": 12,
    "waiting_for": None,
    "tool_calls_total": 50,
    "credits_used": "103.12345678",
}


def test_each_execution_is_one_line_for_a_program_that_reads_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    Screen().print_lines([build_row(RECORD), build_row(RECORD)], *LISTED)
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == list(LISTED)
    assert [row.split() for row in rows] == [
        [RECORD["execution_id"], "completed", "2026-11-21", "12:00", "12", "50", "103.1235"]
    ] * 2


def test_a_cell_with_line_breaks_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().print_table([{"a": "x\ny", "b": None}, {"a": "z", "b": 1}], "a", "b", empty="none")
    assert capsys.readouterr().out.splitlines() == ["a    b", "x y  -", "z    1"]


def test_a_terminal_of_80_columns_breaks_no_cell_of_an_execution(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().print_lines([build_row(RECORD)], *LISTED)
    line = capsys.readouterr().out.splitlines()[1]
    assert f"{line[:80]} {line[80:]}".split() == line.split()


def test_a_table_is_not_folded_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    Screen().print_table([{"name": "x" * 30, "description": "y" * 60}], "name", "description", empty="none")
    assert capsys.readouterr().out.splitlines()[1:] == ["x" * 30 + "  " + "y" * 60]


def test_no_character_of_a_canary_key_is_shown() -> None:
    sealed = {"name": "LUNARCRUSH_API_KEY", "allowed_domains": ["lunarcrush.com"]}
    assert describe_credential(sealed) == "LUNARCRUSH_API_KEY (random, a canary), sealed for lunarcrush.com alone"


def test_the_proof_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    clean = [SearchResult(place="that header at other hosts than lunarcrush.com", things=2, size_bytes=1_167_754, hits=0)]
    print_proof(Screen(), clean, SearchResult(place="header authorization at lunarcrush.com", things=2, size_bytes=102, hits=2))
    head, *rows = capsys.readouterr().out.splitlines()[2:]
    assert head.split() == ["place", "searched", "bytes", "found"]
    assert [row.split()[-3:] for row in rows] == [["2", "1,167,754", "0"], ["2", "102", "2"]]
