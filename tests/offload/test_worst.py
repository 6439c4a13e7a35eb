"""The corpus of worst texts is the same on every machine."""

from __future__ import annotations

from bench import worst


def test_there_are_two_hundred_and_they_are_always_the_same():
    texts = worst.list_texts()
    assert len(texts) == worst.COUNT
    assert texts == worst.list_texts()


def test_fewer_of_them_are_spread_over_all():
    assert worst.list_texts(20) == worst.list_texts()[::10]


def test_every_stored_seed_makes_a_text():
    assert {len(worst.build_text(seed, 1_000)) for seed in worst.read_seeds()} == {1_000}
