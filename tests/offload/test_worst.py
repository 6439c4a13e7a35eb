"""The corpus of worst texts is the same on every machine."""

from __future__ import annotations

from bench import worst


def test_there_are_two_hundred_and_they_are_always_the_same():
    texts = worst.texts()
    assert len(texts) == worst.COUNT
    assert texts == worst.texts()


def test_fewer_of_them_are_spread_over_all():
    assert worst.texts(20) == worst.texts()[::10]


def test_every_seed_that_is_kept_makes_a_text():
    assert {len(worst.made(seed, 1_000)) for seed in worst.kept()} == {1_000}
