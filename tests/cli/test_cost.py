"""`ferryman cost`: what it prints is what docs/cost.md shows, and what it cannot reckon with it refuses by name."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ferryman.billing.cloud.figures import LIMITS
from ferryman.billing.cloud.model import TITLES
from ferryman.cli import main

ROOT = Path(__file__).parents[2]


def run_cost(*options: str) -> Result:
    return CliRunner().invoke(main, ["cost", *options])


def read_cost(*options: str) -> dict[str, Any]:
    output = run_cost(*options, "--json")
    assert output.exit_code == 0, output.output
    document: dict[str, Any] = json.loads(output.stdout)
    return document


def test_the_page_of_the_cost_shows_what_it_prints() -> None:
    output = re.search(r"<!-- ferryman cost -->\n\n```\n(.*?)```", (ROOT / "docs/cost.md").read_text(), re.S)
    assert output is not None
    assert output[1] == run_cost().stdout


def test_each_line_has_an_amount_a_price_and_a_cost_and_the_sum_is_theirs() -> None:
    document = read_cost()
    assert [line["name"] for line in document["lines"]] == list(TITLES)
    for line in document["lines"]:
        assert Decimal(line["cost_usd"]) == Decimal(line["amount"]) * Decimal(line["usd"]) / line["per"]
    assert Decimal(document["cost_usd"]) == sum(Decimal(line["cost_usd"]) for line in document["lines"])
    assert Decimal(document["beyond_free_usd"]) <= Decimal(document["cost_usd"])


def test_a_user_s_own_figures_change_it() -> None:
    mine = read_cost("--executions", "50", "--calls", "3", "--model-seconds", "2.5", "--watched")
    assert mine["figures"]["turns"] == "4"  # one for each call, and the answer
    assert mine["figures"]["watched"] is True
    assert Decimal(mine["cost_usd"]) < Decimal(read_cost()["cost_usd"])


def test_the_model_s_tokens_are_left_out_until_a_model_is_named() -> None:
    assert "without the model's tokens" in run_cost().stdout
    named = run_cost("--model", "claude-haiku-4-5")
    assert "without the model's tokens" not in named.stdout
    added = read_cost("--model", "claude-haiku-4-5", "--input-tokens", "1000", "--output-tokens", "100")
    tokens = {line["name"]: line["cost_usd"] for line in added["lines"][-2:]}
    assert {name: Decimal(cost) for name, cost in tokens.items()} == {"input_tokens": 11, "output_tokens": Decimal("5.5")}


def test_it_says_when_prices_were_written_down_and_that_they_are_to_be_checked() -> None:
    assert re.search(r"written down on \d{4}-\d\d-\d\d: check them against Google's own", run_cost().stdout)


@pytest.mark.parametrize("name", LIMITS)
def test_a_figure_that_is_refused_is_named_with_its_limits(name: str) -> None:
    least, most = LIMITS[name]
    refused = run_cost(f"--{name.replace('_', '-')}", str(most + 1))
    assert refused.exit_code == 2
    assert f"--{name.replace('_', '-')}: must be from {least:,} to {most:,}" in refused.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--model", "nobody"), "--model: has no price"),
        (("--calls", "many"), "--calls"),
        (("--model-seconds", "nan"), "--model-seconds: must be from 0 to 600"),
        (("--turns", "1"), "--turns: must be at least 2"),
        (("--calls", "0", "--turns", "400", "--model-seconds", "60"), "FERRYMAN_EXECUTION_S"),
    ],
)
def test_what_no_execution_can_have_is_refused(options: tuple[str, ...], text: str) -> None:
    refused = run_cost(*options)
    assert refused.exit_code == 2
    assert text in refused.stderr
    assert "Traceback" not in refused.output
