"""Some of the events that `python -m tests.campaigns.metering` has by the hundred thousand."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.metering.event import UsageEvent
from tests.campaigns.metering.__main__ import run_in_memory, run_on_firestore
from tests.campaigns.metering.dashboard import count_reads
from tests.campaigns.metering.judge import find_wrong
from tests.campaigns.metering.unwritten import KINDS, write_words
from tests.contracts.conftest import in_memory

SEED = 7431
READS_MAX = 40
"""Of a dashboard of 90 days."""


async def test_every_roll_up_equals_the_ledger_whatever_comes_often_late_or_dies() -> None:
    delivery, findings = await run_in_memory(1_500, SEED, between=60, most=20)
    assert findings == []
    assert min(delivery.deaths, delivery.lost, delivery.commits - len(delivery.drawn)) > 0


async def test_on_the_protocol_of_firestore_with_answers_that_are_lost_it_does_as_well() -> None:
    delivery, counted, findings = await run_on_firestore(150, SEED, between=40, most=15)
    assert findings == []
    assert min(delivery.deaths, counted.lost) > 0
    assert counted.hottest[0] == 1, "a document is written at most once a second"


async def test_a_dashboard_of_90_days_reads_few_documents() -> None:
    assert 0 < await count_reads() <= READS_MAX


async def test_no_word_that_anybody_wrote_is_in_an_event_or_a_week() -> None:
    words, repeated = await write_words(12, SEED)
    assert (words, repeated) == (12 * len(KINDS), [])


async def test_the_judge_finds_an_event_that_is_counted_twice_or_not_at_all() -> None:
    delivery, _ = await run_in_memory(60, SEED)
    first: UsageEvent = delivery.drawn[0]
    for drawn in ([*delivery.drawn, first], delivery.drawn[1:], [replace(first, turns=2), *delivery.drawn[1:]]):
        async with in_memory() as stores:
            assert await find_wrong(replace(delivery, drawn=drawn, stores=replace(delivery.stores, alerts=stores.alerts))) != []
