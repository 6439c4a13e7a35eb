"""Pages of the console that are open: what they ask for while somebody looks at them. A hidden tab asks for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from ferryman.billing.cloud.figures import Figures, check_figures
from ferryman.billing.cloud.measured import MeasuredPart, load_measurement
from ferryman.billing.cloud.model import API, BILLED_S, CHECK_S, GIB, KIB, LINE_BYTES, QUIET_S, REQUEST_LOG_BYTES, VCPU
from ferryman.billing.cloud.prices import load_price_list

HOUR_S = 3_600
SESSION_CHECK_S = Decimal(1)
"""Seconds after which a page's stream reads again whether its session is still good (`serving.console.live`)."""

PAGE_BYTES = 10_000
"""Assumed: the bytes of a page, or of its parts."""

REFRESHED = {
    "overview": ("the overview", 5),
    "executions": ("a list of executions", 5),
    "approvals": ("a list of approvals", 10),
}
"""By page: its title, and the seconds after which it asks for its parts again (`REFRESH_S` in `serving.console.pages`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPageCost:
    """What a page uses that is open and seen for some hours, by the name of the resource's price."""

    title: str
    amounts: Mapping[str, Decimal]

    @property
    def cost(self) -> Decimal:
        """USD at list price."""
        prices = load_price_list()
        return sum((prices[name].compute(amount) for name, amount in self.amounts.items()), Decimal(0))

    @property
    def beyond_free(self) -> Decimal:
        """USD where nothing else uses the free amounts."""
        prices = load_price_list()
        return sum((prices[name].compute_beyond_free(amount) for name, amount in self.amounts.items()), Decimal(0))


def compute_open_pages(figures: Figures) -> tuple[OpenPageCost, ...]:
    """Return what each page uses by itself, on an instance that serves nothing else. Raise `InvalidInputError`."""
    check_figures(figures)
    seconds = figures.page_hours * HOUR_S
    refreshed = [
        OpenPageCost(title=f"{title}, each {every} s", amounts=_count_refreshes(page, seconds / every, figures))
        for page, (title, every) in REFRESHED.items()
    ]
    streamed = OpenPageCost(title="an execution or answer under way, its stream", amounts=_count_stream(seconds))
    hidden = OpenPageCost(title="any page in a hidden tab", amounts=dict.fromkeys(streamed.amounts, Decimal(0)))
    return (*refreshed, streamed, hidden)


def _count_refreshes(page: str, times: Decimal, figures: Figures) -> Mapping[str, Decimal]:
    measured = load_measurement()
    first, again = measured[f"page_{page}"], measured[f"page_{page}_again"]

    def measure_seconds(part: MeasuredPart) -> Decimal:
        waited = part.round_trips[API] * figures.round_trip_ms / 1000
        return max(Decimal(1), (waited / BILLED_S).to_integral_value(ROUND_CEILING)) * BILLED_S

    return _sum_up(
        reads=first.reads + times * again.reads,
        requests=1 + times,
        seconds=measure_seconds(first) + times * measure_seconds(again),
        lines=first.log_lines + times * again.log_lines,
        log_bytes=first.log_bytes + times * again.log_bytes,
    )


def _count_stream(seconds: Decimal) -> Mapping[str, Decimal]:
    measured = load_measurement()
    reads = Decimal(measured["page_execution"].reads + measured["watch"].reads)
    reads += seconds / CHECK_S * measured["check"].reads + seconds / SESSION_CHECK_S * measured["page_check"].reads
    reads += seconds / QUIET_S * measured["poll"].reads
    # an instance is billed as long as a request is open
    return _sum_up(reads=reads, requests=Decimal(2), seconds=seconds, lines=Decimal(0), log_bytes=Decimal(0))


def _sum_up(
    *, reads: Decimal, requests: Decimal, seconds: Decimal, lines: Decimal, log_bytes: Decimal
) -> Mapping[str, Decimal]:
    logged = log_bytes + lines * LINE_BYTES + requests * REQUEST_LOG_BYTES
    return {
        "vcpu_seconds": seconds * VCPU,
        "gib_seconds": seconds * load_measurement().functions[API].memory_mib / Decimal(KIB),
        "requests": requests,
        "reads": reads,
        "egress_gib": requests * PAGE_BYTES / Decimal(GIB),
        "log_gib": logged / Decimal(GIB),
    }
