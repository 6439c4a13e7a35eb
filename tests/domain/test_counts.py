"""Counts are said with their noun in the number that English asks for."""

from __future__ import annotations

import pytest

from ferryman.domain.counts import list_counts, say_count


@pytest.mark.parametrize(
    ("count", "plural", "text"),
    [
        (0, "executions", "0 executions"),
        (1, "executions", "1 execution"),
        (2, "executions", "2 executions"),
        (1_204, "executions", "1,204 executions"),
        (1, "entries", "1 entry"),
        (3, "entries", "3 entries"),
        (1, "keyed_requests", "1 keyed request"),
        (1, "people", "1 person"),
    ],
)
def test_a_count_has_its_noun(count: int, plural: str, text: str) -> None:
    assert say_count(count, plural) == text


def test_counts_are_listed_in_their_order() -> None:
    assert list_counts({"tasks": 2, "agents": 1}) == "2 tasks, 1 agent"
