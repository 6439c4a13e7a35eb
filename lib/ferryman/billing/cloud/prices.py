"""Google Cloud's list prices of the resources that Ferryman uses, from one table that names their sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

DAYS_PER_MONTH = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudPrice:
    """USD for each `per` of a `unit`; `free` is the free amount of a month."""

    usd: Decimal
    per: int
    unit: str
    free: Decimal

    def compute(self, amount: Decimal) -> Decimal:
        """Return the price of `amount`, in USD."""
        return amount * self.usd / self.per

    def compute_beyond_free(self, amount: Decimal) -> Decimal:
        """Return the price without the free amount, where `amount` is all of a month's, spread evenly over its days."""
        return self.compute(max(Decimal(0), amount - self.free))


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices by name, the day of the list and its region."""

    as_of: str
    region: str
    prices: Mapping[str, CloudPrice]

    def __getitem__(self, name: str) -> CloudPrice:
        return self.prices[name]


@cache
def load_price_list() -> PriceList:
    """Return the price list of the package."""
    table = json.loads(files("ferryman.billing.cloud").joinpath("prices.json").read_text(), parse_float=Decimal)
    prices = {
        name: CloudPrice(
            usd=Decimal(row["usd"]),
            per=row["per"],
            unit=row["unit"],
            free=Decimal(row["free"]) * (DAYS_PER_MONTH if row["free_per"] == "day" else 1),
        )
        for name, row in table["prices"].items()
    }
    return PriceList(as_of=table["as_of"], region=table["region"], prices=prices)
