"""Every regular expression of the library takes linear time, whatever characters of its own a text repeats."""

from __future__ import annotations

import re

import pytest

from tests.patterns.collect import Use, collect, modules
from tests.patterns.judge import find_slow_text

PATTERNS = collect(modules())
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


@pytest.mark.parametrize("use", PATTERNS, ids=lambda use: use.where)
def test_a_pattern_takes_linear_time(use: Use) -> None:
    slow = find_slow_text(use)
    assert slow is None, f"{use.where}: {use.pattern.pattern!r} is not linear for {slow[0]!r}: {slow[1]}"


@pytest.mark.parametrize("kind", QUADRATIC)
def test_a_pattern_that_is_slower_is_found(kind: str) -> None:
    assert find_slow_text(Use(re.compile(QUADRATIC[kind]), kind, frozenset(("search",)))) is not None
