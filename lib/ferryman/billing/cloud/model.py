"""The cost model: from the measured use of each part of an execution, and a user's figures, to their cost.

The formulas are in `docs/cost.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ferryman.billing.cloud.figures import KNOWN, Figures, check_figures
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.prices import CloudPrice, load_price_list
from ferryman.halting import POLL_INTERVAL

API, ORCHESTRATOR, TRIGGER, TOOL = "api", "orchestrator", "on_execution", "api_call"
VCPU = 1
"""The processors of every function."""

BILLED_S = Decimal("0.1")  # Cloud Run bills a request's time rounded up to this
GIB = 2**30
KIB = 1024
STORED_BYTES_MAX = 50_000
"""The bytes of an answer that are stored."""

LINE_BYTES = 500
REQUEST_LOG_BYTES = 1_000
QUEUE_LOG_BYTES = 700
EVENT_BYTES = 2_000
"""Assumed, since no local cloud writes them: the bytes that Cloud Logging adds to a line, those that it writes for a request
and for an operation of the queue, and those of an event in Pub/Sub."""

QUIET_S = Decimal(15)
"""Seconds without a change after which a watcher's stream reads the store nevertheless (`serving.sse`)."""

CHECK_S = Decimal("0.5")
"""Seconds after which it is read again whether a watcher may still watch (`serving.api.event_stream`)."""

COUNTED = ("reads", "writes", "deletes", "queue_operations", "accesses", "log_lines", "log_bytes", "stored_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """The amount in a month of the resource with the price `name`."""

    name: str
    title: str
    amount: Decimal
    price: CloudPrice

    @property
    def cost(self) -> Decimal:
        """USD at list price."""
        return self.price.compute(self.amount)

    @property
    def beyond_free(self) -> Decimal:
        """USD where nothing else uses the free amounts."""
        return self.price.compute_beyond_free(self.amount)


TITLES: Mapping[str, str] = {
    "vcpu_seconds": "functions: processor",
    "gib_seconds": "functions: memory",
    "requests": "functions: requests",
    "reads": "Firestore: reads",
    "writes": "Firestore: writes",
    "deletes": "Firestore: deletes",
    "stored_gib": "Firestore: kept for a month",
    "recovery_gib": "Firestore: recovery of 7 days",
    "queue_operations": "Cloud Tasks: operations",
    "accesses": "Secret Manager: accesses",
    "events": "Eventarc: events",
    "event_gib": "Pub/Sub: events sent",
    "egress_gib": "internet: sent",
    "log_gib": "Cloud Logging: written",
}
"""The resources that executions use, in the order of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds that one execution keeps each function busy, and the number of its slices."""

    busy: Mapping[str, Decimal]
    slices: int


def compute_lines(figures: Figures) -> tuple[CostLine, ...]:
    """Return the use and the cost of all executions. Raise `InvalidInputError`."""
    check_figures(figures)
    prices, amounts = load_price_list(), _compute_amounts(figures)
    return tuple(
        CostLine(name=name, title=title, amount=amounts[name] * figures.executions, price=prices[name])
        for name, title in TITLES.items()
    )


def compute_times(figures: Figures) -> Times:
    """Return the times of one execution."""
    trip = figures.round_trip_ms / 1000
    parts = _count_parts(figures)
    tool_trips = {name: load_measurement()[name].round_trips.get(TOOL, 0) for name in parts}
    waited = figures.turns * figures.model_seconds + figures.calls * figures.call_seconds
    trips = sum(
        count * (load_measurement()[name].round_trips.get(ORCHESTRATOR, 0) + tool_trips[name]) for name, count in parts.items()
    )
    work = waited + trips * trip + 2 * figures.startup_seconds
    slices = max(1, int((work / Decimal(KNOWN.slice_s)).to_integral_value(ROUND_CEILING)))
    work += (slices - 1) * load_measurement()["slice"].round_trips[ORCHESTRATOR] * trip
    tool = sum(
        count * _billed(tool_trips[name] * trip + (figures.call_seconds if name == "call" else 0))
        for name, count in parts.items()
        if load_measurement()[name].requests.get(TOOL)
    )
    start = load_measurement()["admission" if figures.by_document else "start"].round_trips
    busy = {
        API: Decimal(0) if figures.by_document else _billed(start[API] * trip + figures.startup_seconds),
        TRIGGER: _billed(start[TRIGGER] * trip + figures.startup_seconds),
        ORCHESTRATOR: _billed(work) + slices * _billed(load_measurement()["roll_up"].round_trips[ORCHESTRATOR] * trip),
        TOOL: tool + figures.startup_seconds,
    }
    if figures.watched:
        busy[API] += busy[ORCHESTRATOR]
    return Times(busy=busy, slices=slices)


def _compute_amounts(figures: Figures) -> Mapping[str, Decimal]:
    """Return the amount of each resource that one execution uses."""
    spent = compute_times(figures)
    seconds = spent.busy[ORCHESTRATOR]
    parts = {**_count_parts(figures), **_count_timed_parts(figures, spent)}
    used = {name: sum(count * getattr(load_measurement()[part], name) for part, count in parts.items()) for name in COUNTED}
    used["reads"] += (spent.slices - 1 + figures.watched) * (figures.turns + figures.calls)  # the journal, once each
    used["reads"] += _count_changes(figures, spent) * figures.watched  # each changed document is sent, and billed as read
    used["queue_operations"] += spent.slices  # each is one attempt at delivery
    new = load_measurement()["instance"].accesses * _ceiling(seconds / Decimal(KNOWN.keys_ttl_s))
    used["accesses"] += new / _compute_sharing(ORCHESTRATOR, seconds, seconds, figures.at_once)  # an instance asks for all
    requests = sum(count * sum(load_measurement()[part].requests.values()) for part, count in parts.items()) + figures.watched
    streamed = sum(count * load_measurement()[part].streamed_bytes for part, count in parts.items()) if figures.watched else 0
    answers = figures.calls * min(figures.answer_kb * KIB, Decimal(STORED_BYTES_MAX))
    logged = used["log_bytes"] + used["log_lines"] * LINE_BYTES
    logged += requests * REQUEST_LOG_BYTES + used["queue_operations"] * QUEUE_LOG_BYTES
    shared = {name: busy / _compute_sharing(name, busy, seconds, figures.at_once) for name, busy in spent.busy.items()}
    memory = sum(busy * load_measurement().functions[name].memory_mib for name, busy in shared.items())
    stored = (used["stored_bytes"] + answers) / Decimal(GIB)
    amounts = {
        "vcpu_seconds": sum(shared.values()) * VCPU,
        "gib_seconds": memory / Decimal(KIB),
        "requests": requests,
        "stored_gib": stored,
        "recovery_gib": stored * figures.recovery,
        "events": 1,
        "event_gib": Decimal(2 * EVENT_BYTES) / GIB,  # published and delivered
        "egress_gib": (figures.calls * figures.request_kb * KIB + streamed) / Decimal(GIB),
        "log_gib": Decimal(logged) / GIB,
        **{name: used[name] for name in ("reads", "writes", "deletes", "queue_operations", "accesses")},
    }
    return {name: Decimal(amount) for name, amount in amounts.items()}


def _count_parts(figures: Figures) -> dict[str, int]:
    """Return the number of each part in an execution, without the timed ones."""
    start = "admission" if figures.by_document else "start"
    return {start: 1, "opening": 1, "turn": figures.turns - 1, "call": figures.calls, "end": 1, "usage_event": figures.turns}


def _count_timed_parts(figures: Figures, spent: Times) -> dict[str, Decimal | int]:
    """Return the number of each part that is repeated by the clock while an execution waits."""
    seconds, every = spent.busy[ORCHESTRATOR], Decimal(POLL_INTERVAL.total_seconds())
    polls = _count_polls(ORCHESTRATOR, figures.turns * _floor(figures.model_seconds / every), figures, spent)
    polls += _count_polls(TOOL, figures.calls * _floor(figures.call_seconds / every), figures, spent)
    parts: dict[str, Decimal | int] = {"look": polls, "beat": _count_beats(spent), "slice": spent.slices - 1}
    parts["roll_up"] = spent.slices  # as if no two of a workspace ended within the seconds of one round
    if figures.watched:
        parts |= {"watch": 1, "poll": _count_changes(figures, spent) + _ceiling(seconds / QUIET_S)}
        parts |= {"check": _ceiling(seconds / CHECK_S)}
    return parts


def _count_beats(spent: Times) -> int:
    return _floor(spent.busy[ORCHESTRATOR] / Decimal(KNOWN.lease_s / 3))


def _count_changes(figures: Figures, spent: Times) -> int:
    """Return how often a watcher is told of a change: each slice is claimed and handed over, the execution opened, each turn
    stored, each call claimed and settled, the lease renewed."""
    return 2 * spent.slices + 1 + figures.turns + 2 * figures.calls + _count_beats(spent)


def _count_polls(function: str, alone: int, figures: Figures, spent: Times) -> Decimal:
    """Return an execution's part of the looks at the kill switches, of which an execution by itself needs `alone`.

    An instance looks once in an interval for all that it has under way, in the seconds that it is busy at most.
    """
    busy, every = spent.busy[function], Decimal(POLL_INTERVAL.total_seconds())
    sharing = _compute_sharing(function, busy, spent.busy[ORCHESTRATOR], figures.at_once)
    return min(Decimal(alone), busy / every / sharing)


def _compute_sharing(function: str, busy: Decimal, seconds: Decimal, at_once: int) -> Decimal:
    """Return the number of requests that an instance of `function` serves at once, for `at_once` executions."""
    at_a_time = at_once * min(Decimal(1), busy / seconds)
    return max(Decimal(1), min(Decimal(load_measurement().functions[function].concurrency), at_a_time))


def _billed(seconds: Decimal) -> Decimal:
    return max(1, _ceiling(seconds / BILLED_S)) * BILLED_S


def _ceiling(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_CEILING))


def _floor(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_FLOOR))
