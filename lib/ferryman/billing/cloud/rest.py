"""Idle costs: the cost of a deployment in a month without requests."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ferryman.billing.cloud.figures import Figures
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.model import BILLED_S, GIB, KIB, ORCHESTRATOR, VCPU, compute_lines
from ferryman.billing.cloud.prices import DAYS_PER_MONTH, CloudPrice, load_price_list
from ferryman.domain.tasks.firing import WINDOW

VERSIONS = 4
"""Versions of the sealing key, the receipt key, the api's and the platform's key. Each rotation adds one, and a disabled
one is billed too."""

CONDITIONS = 7  # conditions of the alerts: five on lines of the log, one on each queue
IMAGE_GIB = Decimal("0.2")  # assumed, since no build was run. The common layers of the functions' images are stored once.
IMAGES = 16
RUNNING = 0
"""Instances: the minimum of every function is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleCost:
    """A resource that is used all month; `amount` for people, `cost` and `beyond_free` in USD."""

    title: str
    amount: str
    cost: Decimal
    beyond_free: Decimal


def compute_idle_costs(figures: Figures) -> tuple[IdleCost, ...]:
    """Return the resources of an idle deployment, and the stored records of the executions of `figures`."""
    archives = Decimal(load_measurement().archives_bytes) / GIB
    stored = {line.name: line.amount for line in compute_lines(figures) if line.name in ("stored_gib", "recovery_gib")}
    return (
        IdleCost(title="functions running", amount=f"{RUNNING} instances", cost=Decimal(0), beyond_free=Decimal(0)),
        _price_idle("key versions", "versions", Decimal(VERSIONS), f"{VERSIONS} versions"),
        _price_idle("conditions of alerts", "conditions", Decimal(CONDITIONS), f"{CONDITIONS} conditions"),
        _price_idle("archives of one deployment", "source_gib", archives, f"{archives * KIB:.1f} MiB"),
        _price_idle("images, a size that is assumed", "image_gib", IMAGES * IMAGE_GIB, f"{IMAGES * IMAGE_GIB} GiB"),
        _price_idle("records of the executions above", "stored_gib", stored["stored_gib"], f"{stored['stored_gib']:.3f} GiB"),
        _price_idle("their recovery of 7 days", "recovery_gib", stored["recovery_gib"], f"{stored['recovery_gib']:.3f} GiB"),
        _price_sweeps(),
    )


def _price_idle(title: str, name: str, amount: Decimal, text: str) -> IdleCost:
    price: CloudPrice = load_price_list()[name]
    return IdleCost(title=title, amount=text, cost=price.compute(amount), beyond_free=price.compute_beyond_free(amount))


def _price_sweeps() -> IdleCost:
    """Return the sweeps of the schedules, which run only while a task waits for its time."""
    sweeps = int(DAYS_PER_MONTH * 86_400 / WINDOW.total_seconds())
    part, memory = load_measurement()["sweep"], Decimal(load_measurement().functions[ORCHESTRATOR].memory_mib) / KIB
    amounts = {
        "requests": Decimal(1),
        "vcpu_seconds": BILLED_S * VCPU,
        "gib_seconds": BILLED_S * memory,
        "reads": Decimal(part.reads),
        "queue_operations": Decimal(part.queue_operations + 1),  # set, and delivered
    }
    priced = [(load_price_list()[name], amount * sweeps) for name, amount in amounts.items()]
    return IdleCost(
        title="sweeps, where any task has a schedule",
        amount=f"{sweeps:,} sweeps",
        cost=sum((price.compute(amount) for price, amount in priced), Decimal(0)),
        beyond_free=sum((price.compute_beyond_free(amount) for price, amount in priced), Decimal(0)),
    )
