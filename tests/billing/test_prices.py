"""Prices: tokens to credits, exactly."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.billing.prices import Prices
from ferryman.domain.executions.usage import Usage

SONNET = Prices().find("claude-sonnet-4-5")


def test_a_million_tokens_in_cost_their_dollars_in_thousands_of_credits():
    assert SONNET.compute_credits(Usage(input_tokens=1_000_000)) == Decimal(3_000)


def test_every_kind_of_token_has_its_own_price():
    usage = Usage(input_tokens=1_000, output_tokens=1_000, cache_read_tokens=1_000, cache_write_tokens=1_000)
    assert SONNET.compute_credits(usage) == Decimal("3") + Decimal("15") + Decimal("0.3") + Decimal("3.75")


def test_a_model_without_a_price_has_none():
    assert Prices().find("gpt-unpriced") is None


@pytest.mark.parametrize("model", ["claude-sonnet-4-5/x", "claude-sonnet-4-5/", "/claude-sonnet-4-5"])
def test_only_the_scripted_have_a_name_after_a_slash(model):
    assert Prices().find(model) is None


def test_all_of_the_scripted_cost_what_the_family_does():
    assert Prices({"scripted": {"input": "3", "output": "15"}}).find("scripted/demo").output == 15


def test_the_operators_row_replaces_the_shipped_one():
    assert Prices({"claude-sonnet-4-5": {"input": "1", "output": "2"}}).find("claude-sonnet-4-5").input == 1


@pytest.mark.parametrize(
    "row", [{}, {"input": "x", "output": "1"}, {"input": "-1", "output": "1"}, {"input": "NaN", "output": "1"}]
)
def test_a_row_that_is_no_price_is_refused_by_name(row):
    with pytest.raises(ValueError, match="'odd'"):
        Prices({"odd": row})


@given(st.integers(0, 10_000_000), st.decimals(0, 5_000, places=3))
def test_what_is_affordable_never_costs_more_than_the_budget(prompt_bytes, budget):
    tokens = SONNET.count_affordable_tokens(budget, prompt_bytes=prompt_bytes)
    worst = Usage(cache_write_tokens=prompt_bytes // 2 + 1, output_tokens=tokens)
    assert tokens == 0 or SONNET.compute_credits(worst) <= budget
