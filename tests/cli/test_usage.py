"""The table of usage: a row for each name, and a line that shows the days."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.cli.usage import ASCII_BLOCKS, BLOCKS, POINTS_MAX, build_row, describe_total, draw_line

COUNTS: dict[str, Any] = {
    **{"calls": 12, "failures": {"timed_out": 1}, "definition_tokens": 420, "result_tokens": 9_310, "call_tokens": 240},
    **{"text_tokens": 0, "credits": "6"},
}
ROW: dict[str, Any] = {
    **{"name": "api_call", "counts": COUNTS, "failed": 1, "p50_ms": 250, "p95_ms": None},
    **{"calls_by_day": [0, 12], "tokens_by_day": [70, 9_900]},
}


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([0, 0], "··"), ([0, 1], "·█"), ([1, 2, 3, 4, 5, 6, 7, 8], "▁▂▃▄▅▆▇█"), ([1, 1_000_000], "▁█")],
)
def test_a_line_shows_each_day_by_the_largest(values: list[int], line: str) -> None:
    assert draw_line(values, is_unicode=True) == line


def test_a_terminal_without_unicode_is_shown_ascii() -> None:
    line = draw_line([0, 1, 2, 3, 4, 5, 6, 7, 8], is_unicode=False)
    assert (line, line.isascii()) == (ASCII_BLOCKS, True)
    assert len(ASCII_BLOCKS) == len(BLOCKS)


@pytest.mark.parametrize(("days", "points"), [(30, 30), (31, 16), (90, 30), (92, 23)])
def test_a_line_is_no_longer_than_there_is_room_for(days: int, points: int) -> None:
    assert len(draw_line(range(days), is_unicode=True)) == points <= POINTS_MAX


def test_a_row_of_a_tool_has_its_tokens_and_the_line_of_its_calls() -> None:
    row = build_row(ROW, "tool", is_unicode=True)
    assert (row["tool"], row["tokens"], row["p50_ms"], row["p95_ms"], row["days"]) == ("api_call", 9_970, 250, None, "·█")


def test_a_row_without_calls_and_one_of_a_model_have_the_line_of_their_tokens() -> None:
    uncalled = build_row({**ROW, "counts": {**COUNTS, "calls": 0}}, "tool", is_unicode=True)
    assert uncalled["days"] == build_row(ROW, "model", is_unicode=True)["days"] == "▁█"


def test_the_sums_are_told_in_a_line() -> None:
    assert describe_total(COUNTS, "day") == "12 calls, 1 failed; 9,970 tokens; 6 credits"


def test_the_credits_of_a_tool_are_the_fees_of_its_calls() -> None:
    assert (build_row(ROW, "tool", is_unicode=True)["fees"], build_row(ROW, "agent", is_unicode=True)["credits"]) == ("6", "6")
    assert describe_total(COUNTS, "tool").endswith("6 credits of fees")
