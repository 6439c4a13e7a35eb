"""Prices: what a model's tokens cost in credits. A model without a price is not run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any

from ferryman.domain.executions.usage import Usage
from ferryman.domain.tasks.task import SCRIPTED

USD_PER_CREDIT = Decimal("0.001")
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """One model's price, in USD per million tokens."""

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal

    def to_row(self) -> Mapping[str, str]:
        """Return the price as a row of the table."""
        return {name: str(getattr(self, name)) for name in ("input", "output", "cache_write", "cache_read")}

    def compute_credits(self, usage: Usage) -> Decimal:
        """Return what `usage` costs, in credits."""
        usd = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_write_tokens * self.cache_write
            + usage.cache_read_tokens * self.cache_read
        ) / _MILLION
        return usd / USD_PER_CREDIT

    def compute_worst_case(self, *, prompt_bytes: int, output_tokens: int) -> Decimal:
        """Return what a call costs at its dearest: the prompt as in `affordable`, and every output token used."""
        return self.compute_credits(Usage(cache_write_tokens=prompt_bytes // 2 + 1, output_tokens=output_tokens))

    def count_affordable_tokens(self, budget: Decimal, *, prompt_bytes: int) -> int:
        """Return how many output tokens `budget` credits still pay for after a prompt of `prompt_bytes` bytes of JSON.

        The prompt is counted at its dearest: two bytes a token, all of it written to the cache.
        """
        prompt = Usage(cache_write_tokens=prompt_bytes // 2 + 1)
        left = (budget - self.compute_credits(prompt)) * USD_PER_CREDIT
        return max(0, int(left * _MILLION / self.output)) if self.output else 2**31


class Prices(Mapping[str, ModelPrice]):
    """The table of the package, by model, with the operator's own rows over it."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        shipped = json.loads(files("ferryman.billing").joinpath("prices.json").read_text())["models"]
        self._prices = {model: parse_price(model, row) for model, row in {**shipped, **(rows or {})}.items()}

    def find(self, model: str) -> ModelPrice | None:
        """Return the price of `model`, or None where there is none; all of `scripted/NAME` cost what `scripted` does."""
        family, slash, _ = model.partition("/")
        return self._prices.get(family if slash and family == SCRIPTED else model)

    def __getitem__(self, model: str) -> ModelPrice:
        return self._prices[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prices)

    def __len__(self) -> int:
        return len(self._prices)


def parse_price(model: str, row: Mapping[str, Any]) -> ModelPrice:
    """Return the price of `model` by its row of the table. Raise ValueError for one that is none."""
    try:
        paid, made = Decimal(row["input"]), Decimal(row["output"])
        written = Decimal(row.get("cache_write", paid * Decimal("1.25")))
        price = ModelPrice(input=paid, output=made, cache_write=written, cache_read=Decimal(row.get("cache_read", paid)))
    except (KeyError, ArithmeticError, TypeError, ValueError) as error:
        raise ValueError(f"the price of {model!r} must give input and output in USD per million tokens") from error
    if any(not each.is_finite() or each < 0 for each in (price.input, price.output, price.cache_write, price.cache_read)):
        raise ValueError(f"the price of {model!r} must not be negative")
    return price
