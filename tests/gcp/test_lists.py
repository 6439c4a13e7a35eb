"""Lists: a page reads the documents that are on it and one more, and of each only what a list tells."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bench.lists import LISTS, PAGE, open_store


async def count_reads(count: int, text: str) -> dict[str, Mapping[str, int]]:
    """Return what a page of each list reads where so many documents are in the store."""
    counts = {}
    async with open_store(count, text=text) as store:
        for name, read in LISTS.items():
            store.reads.clear()
            assert len((await read(store)).items) == PAGE
            counts[name] = dict(store.reads)
    return counts


async def test_a_page_reads_as_much_of_a_large_store_as_of_a_small_one() -> None:
    small, large = await count_reads(PAGE + 1, "x"), await count_reads(300, "x" * 5_000)
    assert {name: reads["documents"] for name, reads in large.items()} == dict.fromkeys(LISTS, PAGE + 1)
    for name, reads in large.items():
        assert reads["bytes"] == pytest.approx(small[name]["bytes"], rel=0.02), name
        assert reads["bytes"] < 1_500 * (PAGE + 1), name
