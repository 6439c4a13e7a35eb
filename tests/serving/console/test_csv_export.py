"""CSV: what a spreadsheet would run is a text, and every cell is read back as it was written."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.serving.console.csv_export import STARTS, neutralize_cell, write_csv

CELLS = st.lists(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=2, max_size=4), max_size=4)


@pytest.mark.parametrize("start", STARTS)
def test_a_cell_that_begins_as_a_formula_does_is_a_text(start: str) -> None:
    assert neutralize_cell(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"
    assert neutralize_cell(f"  {start}1+1")[0] == "'"


@pytest.mark.parametrize("text", ["12.5", "-3", "0", "task_1", "a=b", "", "-", "2026-11"])
def test_a_number_and_an_ordinary_text_stay_as_they_are(text: str) -> None:
    assert neutralize_cell(text) == (f"'{text}" if text == "-" else text)


@given(rows=CELLS)
def test_what_is_written_is_read_back_cell_by_cell(rows: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO(write_csv(rows), newline="")))
    assert read == [[neutralize_cell(cell) for cell in row] for row in rows]


@given(rows=CELLS)
def test_no_cell_begins_as_a_formula_does(rows: list[list[str]]) -> None:
    cells = [cell for row in csv.reader(io.StringIO(write_csv(rows), newline="")) for cell in row]
    assert not [
        cell for cell in cells if cell.lstrip(" ").startswith(STARTS) and not cell.lstrip("-").replace(".", "").isdigit()
    ]
