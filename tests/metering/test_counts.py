"""Counts: sums that do not depend on the order, and rows that keep them."""

from __future__ import annotations

import json
import random

from ferryman.domain.metering.counts import UsageCounts

from .events import build_event, draw_event, sum_counts

DRAWN = [draw_event(random.Random(number), number) for number in range(60)]


def test_counts_add_up_the_same_in_any_order() -> None:
    counts = [event.count_all() for event in DRAWN]
    whole = sum_counts(counts)
    for seed in range(5):
        assert sum_counts(random.Random(seed).sample(counts, len(counts))) == whole


def test_a_row_keeps_its_counts_through_json() -> None:
    whole = sum_counts(event.count_all() for event in DRAWN)
    assert UsageCounts.from_row(json.loads(json.dumps(whole.to_row()))) == whole


def test_a_row_has_nothing_that_is_0() -> None:
    assert UsageCounts().to_row() == {}
    assert build_event(calls=(), tools=()).count_all().to_row() == {
        **{"turns": 1, "input_tokens": 90, "output_tokens": 10, "text_tokens": 60, "llm_tokens": "0.25"}
    }


def test_the_tools_of_an_event_and_its_other_text_have_all_of_its_tokens_and_calls() -> None:
    for event in DRAWN:
        tools, whole = sum_counts(event.count_tools().values()), event.count_all()
        for name in ("definition_tokens", "result_tokens", "call_tokens", "text_tokens", "calls", "failures", "latencies"):
            assert getattr(tools, name) == getattr(whole, name)
        tokens = tools.definition_tokens + tools.result_tokens + tools.call_tokens + tools.text_tokens
        usage = event.usage
        assert tokens == (usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens)
