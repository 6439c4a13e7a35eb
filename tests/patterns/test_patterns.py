"""Every regular expression of the library takes linear time, whatever characters of its own a text repeats."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.patterns.collect import Use, collect, modules
from tests.patterns.judge import find_slow_text

PARTS = 8
"""All patterns of the library are judged in so many tests, each well below the time that one may take."""

QUADRATIC = {
    "a run tried from each of its characters": r"\\+x",
    "two repetitions of the same side by side": r"<\s*/?\s*name",
    "a word, then two of them": r"human(?:\s*[*]{0,3})?\s*:",
    "anything, then anything": r"a.*b.*c",
    "exponential": r"(?:\w+\s?)+:",
    "alternatives that are the same": r"^(?:a|a)+b",
    "a beginning that the rest may hold": r"\beyJ[\w-]{10,}\.x",
    "bytes": rb"[0-9]+x",
}


@cache
def collect_all() -> list[Use]:
    """Return every pattern; the whole library is imported for it."""
    return collect(modules())


@pytest.mark.parametrize("part", range(PARTS))
def test_a_pattern_takes_linear_time(part: int) -> None:
    judged = [(use, find_slow_text(use)) for use in collect_all()[part::PARTS]]
    assert judged
    assert [
        f"{use.where}: {use.pattern.pattern!r} is not linear for {slow[0]!r}: {slow[1]}"
        for use, slow in judged
        if slow is not None
    ] == []


@pytest.mark.parametrize("kind", QUADRATIC)
def test_a_pattern_that_is_slower_is_found(kind: str) -> None:
    assert find_slow_text(Use(re.compile(QUADRATIC[kind]), kind, frozenset(("search",)))) is not None
