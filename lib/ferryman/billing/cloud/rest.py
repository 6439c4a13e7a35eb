"""At rest: what a deployment costs in a month in which nobody asks anything of it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ferryman.billing.cloud.figures import Figures
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.model import BILLED_S, GIB, KIB, ORCHESTRATOR, VCPU, compute_lines
from ferryman.billing.cloud.prices import DAYS_PER_MONTH, CloudPrice, load_price_list
from ferryman.domain.tasks.firing import WINDOW

VERSIONS = 2
"""Of the sealing key and of the receipt key; every rotation adds one, and a disabled one is billed as well."""

CONDITIONS = 7
"""Of the alerts: five on lines of the log, one on each queue."""

IMAGE_GIB = Decimal("0.2")
"""Assumed: no build was ever run. What the images of the functions have in common is kept once."""

IMAGES = 8
RUNNING = 0
"""Instances: the least of every function is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleCost:
    """Something that is there all month; `amount` as people read it, `cost` and `beyond_free` in USD."""

    title: str
    amount: str
    cost: Decimal
    beyond_free: Decimal


def compute_idle_costs(figures: Figures) -> tuple[IdleCost, ...]:
    """Return what is there besides the executions, and what the executions of `figures` leave behind."""
    archives = Decimal(load_measurement().archives_bytes) / GIB
    kept = {each.name: each.amount for each in compute_lines(figures) if each.name in ("stored_gib", "recovery_gib")}
    return (
        IdleCost(title="functions running", amount=f"{RUNNING} instances", cost=Decimal(0), beyond_free=Decimal(0)),
        _kept("key versions", "versions", Decimal(VERSIONS), f"{VERSIONS} versions"),
        _kept("conditions of alerts", "conditions", Decimal(CONDITIONS), f"{CONDITIONS} conditions"),
        _kept("archives of one deployment", "source_gib", archives, f"{archives * KIB:.1f} MiB"),
        _kept("images, a size that is assumed", "image_gib", IMAGES * IMAGE_GIB, f"{IMAGES * IMAGE_GIB} GiB"),
        _kept("records of the executions above", "stored_gib", kept["stored_gib"], f"{kept['stored_gib']:.3f} GiB"),
        _kept("their recovery of 7 days", "recovery_gib", kept["recovery_gib"], f"{kept['recovery_gib']:.3f} GiB"),
        _sweeps(),
    )


def _kept(title: str, name: str, amount: Decimal, shown: str) -> IdleCost:
    price: CloudPrice = load_price_list()[name]
    return IdleCost(title=title, amount=shown, cost=price.of(amount), beyond_free=price.beyond_free(amount))


def _sweeps() -> IdleCost:
    """Return the sweep of the schedules, which only comes while any task waits for a time."""
    sweeps = int(DAYS_PER_MONTH * 86_400 / WINDOW.total_seconds())
    part, memory = load_measurement()["sweep"], Decimal(load_measurement().functions[ORCHESTRATOR].memory_mib) / KIB
    each = {
        "requests": Decimal(1),
        "vcpu_seconds": BILLED_S * VCPU,
        "gib_seconds": BILLED_S * memory,
        "reads": Decimal(part.reads),
        "queue_operations": Decimal(part.queue_operations + 1),  # set, and delivered
    }
    priced = [(load_price_list()[name], amount * sweeps) for name, amount in each.items()]
    return IdleCost(
        title="sweeps, where any task has a schedule",
        amount=f"{sweeps:,} sweeps",
        cost=sum((price.of(amount) for price, amount in priced), Decimal(0)),
        beyond_free=sum((price.beyond_free(amount) for price, amount in priced), Decimal(0)),
    )
