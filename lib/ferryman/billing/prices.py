"""Prices of models' tokens in credits. A model without a price is not used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any

from ferryman.domain.executions.usage import Usage
from ferryman.domain.tasks.task import SCRIPTED
from ferryman.settings import Settings

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
        """Return the price of `usage`, in credits."""
        usd = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_write_tokens * self.cache_write
            + usage.cache_read_tokens * self.cache_read
        ) / _MILLION
        return usd / USD_PER_CREDIT

    def compute_worst_case(self, *, prompt_bytes: int, output_tokens: int) -> Decimal:
        """Return the highest price of a call: the prompt as in `count_affordable_tokens`, and every output token used."""
        return self.compute_credits(Usage(cache_write_tokens=prompt_bytes // 2 + 1, output_tokens=output_tokens))

    def count_affordable_tokens(self, budget: Decimal, *, prompt_bytes: int) -> int:
        """Return how many output tokens `budget` credits pay for after a prompt of `prompt_bytes` bytes of JSON.

        The prompt counts at its highest price: two bytes a token, all of it written to the cache.
        """
        prompt = Usage(cache_write_tokens=prompt_bytes // 2 + 1)
        rest = (budget - self.compute_credits(prompt)) * USD_PER_CREDIT
        return max(0, int(rest * _MILLION / self.output)) if self.output else 2**31


class Prices(Mapping[str, ModelPrice]):
    """The table of the package, by model, with the operator's own rows over it."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        shipped = json.loads(files("ferryman.billing").joinpath("prices.json").read_text())["models"]
        self._prices = {model: parse_price(model, row) for model, row in {**shipped, **(rows or {})}.items()}

    @classmethod
    def from_settings(cls, settings: Settings) -> Prices:
        """Return the table with the rows of the settings, and the prices of the operator's own models, over it."""
        return cls({**settings.prices, **{name: model.price for name, model in settings.models.items()}})

    def find(self, model: str) -> ModelPrice | None:
        """Return the price of `model`, or None where there is none; all of `scripted/NAME` have that of `scripted`."""
        family, slash, _ = model.partition("/")
        return self._prices.get(family if slash and family == SCRIPTED else model)

    def __getitem__(self, model: str) -> ModelPrice:
        return self._prices[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prices)

    def __len__(self) -> int:
        return len(self._prices)


def parse_price(model: str, row: Mapping[str, Any]) -> ModelPrice:
    """Return the price of `model` in its row of the table. Raise ValueError for an invalid row."""
    try:
        prices = {"input": Decimal(row["input"]), "output": Decimal(row["output"])}
        prices["cache_write"] = Decimal(row.get("cache_write", prices["input"] * Decimal("1.25")))
        prices["cache_read"] = Decimal(row.get("cache_read", prices["input"]))
    except (KeyError, ArithmeticError, TypeError, ValueError) as error:
        raise ValueError(f"the price of {model!r} must give input and output in USD per million tokens") from error
    if any(not price.is_finite() or price < 0 for price in prices.values()):
        raise ValueError(f"the price of {model!r} must not be negative")
    return ModelPrice(**prices)
