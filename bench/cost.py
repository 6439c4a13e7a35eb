"""What 1,000 executions of 10 calls cost in infrastructure, 40 at once, by `ferryman cost`: counted operations at list prices.

Run with `python -m bench.cost`, after `python -m bench.operations --write` where what an execution asks for has changed. Its
note says what the instances cost that executions share while they wait for the model and the services: that is always paid.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from decimal import Decimal

from bench import Row, show
from ferryman.billing.cloud.figures import Figures
from ferryman.billing.cloud.model import compute_lines
from ferryman.billing.cloud.prices import load_price_list

BAR = Decimal("0.10")
FIGURES = Figures(executions=1_000, calls=10, at_once=40)
LARGEST = 4


def rows() -> Iterable[Row]:
    """Yield the cost, and what most of it is for."""
    lines = compute_lines(FIGURES)
    together = sum(line.cost for line in lines)
    largest = sorted(lines, key=lambda line: -line.cost)[:LARGEST]
    goes = ", ".join(f"{line.title} ${line.cost:.3f}" for line in largest)
    yield Row(
        f"infrastructure per {FIGURES.executions:,} executions of {FIGURES.calls} calls at {FIGURES.at_once} at once",
        f"<= ${BAR}",
        f"${together:.3f}",
        together <= BAR,
        f"{goes}; waiting alone, on one instance: ${compute_waiting():.3f}",
    )


def compute_waiting() -> Decimal:
    """Return the cost of the processors while executions wait for the model and for the services."""
    seconds = FIGURES.turns * FIGURES.model_seconds + FIGURES.calls * FIGURES.call_seconds
    return load_price_list()["vcpu_seconds"].compute(seconds * FIGURES.executions / FIGURES.at_once)


if __name__ == "__main__":
    sys.exit(show(rows()))
