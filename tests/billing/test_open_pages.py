"""What open pages of the console cost: their own seconds and counts, and nothing for a hidden tab."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.billing.cloud.figures import Figures
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.open_pages import REFRESHED, SESSION_CHECK_S, OpenPageCost, compute_open_pages
from ferryman.serving.console import live
from ferryman.serving.console.pages import approvals, executions, overview

PAGES = {"overview": overview, "executions": executions, "approvals": approvals}


def find_cost(words: str, **figures: Decimal) -> OpenPageCost:
    return next(page for page in compute_open_pages(replace(Figures(), **figures)) if words in page.title)


@pytest.mark.parametrize("page", REFRESHED)
def test_a_page_asks_again_as_often_as_the_console_has_it_ask(page: str) -> None:
    title, every = REFRESHED[page]
    assert every == PAGES[page].REFRESH_S
    measured, cost = load_measurement(), find_cost(title)
    assert cost.amounts["requests"] == 1 + 3600 // every
    assert cost.amounts["reads"] == measured[f"page_{page}"].reads + 3600 // every * measured[f"page_{page}_again"].reads


def test_two_hours_of_a_stream_keep_an_instance_busy_for_an_hour_more_than_one() -> None:
    shorter, longer = (find_cost("stream", page_hours=Decimal(hours)).amounts for hours in (1, 2))
    measured = load_measurement()
    assert Decimal(live.CHECK_S) == SESSION_CHECK_S
    assert longer["vcpu_seconds"] - shorter["vcpu_seconds"] == 3600
    a_second = 2 * measured["check"].reads + measured["page_check"].reads
    assert longer["reads"] - shorter["reads"] == 3600 * a_second + 240 * measured["poll"].reads


def test_a_hidden_tab_costs_nothing() -> None:
    hidden = find_cost("hidden", page_hours=Decimal(1000))
    assert (hidden.cost, set(hidden.amounts.values())) == (0, {0})


def test_pages_that_are_seen_for_no_hour_cost_their_opening_alone() -> None:
    assert find_cost("overview", page_hours=Decimal(0)).amounts["requests"] == 1
