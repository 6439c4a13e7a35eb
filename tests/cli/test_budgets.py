"""The table of budgets: a row for each cap, and a bar of what is used and reserved of it."""

from __future__ import annotations

import pytest

from ferryman.cli.budgets import build_row, draw_bar

ROW = {"kind": "agent", "id": "a", "name": "Eve", "limit": "50", "credits_used": "20", "credits_reserved": "10"}


@pytest.mark.parametrize(
    ("used", "reserved", "bar"),
    [
        ("0", "0", "...................."),
        ("50", "0", "##########.........."),
        ("25", "25", "#####+++++.........."),
        ("99.9", "0", "###################."),
        ("100", "0", "####################"),
        ("60", "60", "############++++++++"),
        ("140", "10", "####################"),
    ],
)
def test_a_bar_shows_what_is_used_and_then_what_is_reserved(used: str, reserved: str, bar: str) -> None:
    assert draw_bar(used, reserved, "100") == bar


def test_a_row_has_the_share_and_the_bar() -> None:
    row = build_row({**ROW, "credits_left": "20", "percent_used": 40})
    assert (row["used"], row["reserved"], row["left"], row["share"], row["bar"]) == (
        "20",
        "10",
        "20",
        "40%",
        "########++++........",
    )


def test_without_a_limit_a_row_has_neither() -> None:
    row = build_row({**ROW, "limit": None, "credits_left": None, "percent_used": None})
    assert (row["limit"], row["left"], row["share"], row["bar"]) == ("none", "", "", "")
