"""Counts in words: a number with the noun of what it counts, in the singular for one."""

from __future__ import annotations

from collections.abc import Mapping

_IRREGULAR = {"people": "person"}


def say_count(count: int, plural: str) -> str:
    """Return "1 execution" or "1,204 executions" for `plural` "executions", with _ for spaces."""
    noun = plural.replace("_", " ")
    return f"{count:,} {_make_singular(noun) if count == 1 else noun}"


def list_counts(counts: Mapping[str, int]) -> str:
    """Return the counts of things by what they are called in the plural, in their order: "2 tasks, 1 agent"."""
    return ", ".join(say_count(count, plural) for plural, count in counts.items())


def _make_singular(plural: str) -> str:
    if plural in _IRREGULAR:
        return _IRREGULAR[plural]
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    return plural.removesuffix("s")
