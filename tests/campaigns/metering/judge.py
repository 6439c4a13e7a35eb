"""The judge: what the weeks have, beside what the ledger has, and beside what the events had that were drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal

from ferryman.domain.expense import Expense
from ferryman.domain.metering.counts import UsageCounts
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.week import RowKind, WeekPart, find_day, find_monday, list_counts
from tests.campaigns.metering.deliveries import DAYS, WORKSPACE, Delivery
from tests.contracts.conftest import Stores
from tests.metering.events import MONDAY

Rows = dict[tuple[RowKind, str, str], UsageCounts]
"""Counts by kind, day and name."""
Amounts = dict[tuple[str, str, str], Decimal]
"""Credits, and bytes of what is not metered, by day, agent and account."""


async def find_wrong(delivery: Delivery) -> list[str]:
    """Return what is not as it has to be: every row, and every sum of the ledger."""
    stores, findings = delivery.stores, await find_wrong_rows(delivery.stores, delivery.drawn)
    rows = await read_rows(stores, delivery.drawn)
    until = MONDAY + timedelta(days=DAYS + 1)
    entries = await stores.ledger.of_owner("ann", since=MONDAY - timedelta(days=1), until=until)
    ledger: Amounts = {}
    for entry in entries:
        for posting in entry.postings:
            if posting.account in list(Expense):
                _add(ledger, (find_day(entry.at), entry.agent, posting.account), posting.credits or Decimal(posting.bytes))
    agents: Amounts = {}
    for (kind, day, name), counts in rows.items():
        if kind is RowKind.AGENT:
            for expense in Expense:
                _add(agents, (day, name, expense.value), Decimal(getattr(counts, expense.value)))
    if agents != ledger:
        findings.append(f"the weeks have {agents.items() - ledger.items()}, the ledger {ledger.items() - agents.items()}")
    return findings


async def find_wrong_rows(stores: Stores, events: Sequence[UsageEvent]) -> list[str]:
    """Return each row that is not the sum of `events`, and what was not rolled up."""
    rows, expected = await read_rows(stores, events), sum_events(events)
    findings = [
        f"row {key}: {rows.get(key)} where there is {expected.get(key)}"
        for key in sorted(rows.keys() | expected.keys())
        if rows.get(key) != expected.get(key)
    ]
    unread = await stores.usage.list_events(WORKSPACE, most=1)
    return [*findings, *(f"left: {event.id}" for event in unread)]


async def read_rows(stores: Stores, events: Sequence[UsageEvent]) -> Rows:
    """Return the rows of the weeks that `events` are of."""
    mondays = sorted({find_monday(event.at) for event in events})
    weeks = [week for part in WeekPart for week in await stores.usage.list_weeks(WORKSPACE, mondays=mondays, part=part)]
    return {(kind, day, name): counts for week in weeks for day, kind, name, counts in week.read_rows()}


def sum_events(events: Iterable[UsageEvent]) -> Rows:
    """Return the rows of events that are each counted once."""
    rows: Rows = {}
    for event in events:
        for part in WeekPart:
            for kind, name, counts in list_counts(event, part):
                key = (kind, find_day(event.at), name)
                rows[key] = rows.get(key, UsageCounts()) + counts
    return rows


def _add(amounts: Amounts, key: tuple[str, str, str], amount: Decimal) -> None:
    if amount:
        amounts[key] = amounts.get(key, Decimal(0)) + amount
