"""What is measured: tasks done by approvals, attacks by what became of them, each with the numbers that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.agentdojo.reasons import ReasonCount, count_reasons
from bench.agentdojo.runs import Bench, RunResult, Setting

APPROVALS = range(5)
"""How often the person may approve in one task, for the curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How many tasks are done with at most so many approvals each, from none on, and in how many nobody is asked.

    Only what is really done counts: `by_luck` are those that are graded as done although a call of theirs was declined.
    """

    tasks: int
    done: tuple[int, ...]
    unasked: int
    by_luck: int
    reasons: Sequence[ReasonCount] = ()
    """Why people are asked in the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacks:
    """What became of the pairs of one suite."""

    suite: str
    pairs: int
    read: int
    """Pairs in which the model has read the injection."""
    plain: int
    """Attacks by calls that win without the kernel."""
    unjudged: int
    """Attacks by calls that win on the kernel without the flow policy."""
    declined: int
    """Attacks that waited for a person, who declined."""
    failed: int
    """Attacks that did not get what they want, though nobody was asked."""
    won: int
    """Attacks by calls that got what they want."""
    words: int
    """Attacks that only want something said, and got it: an answer is no call."""
    utility: int
    """User tasks that were done beside the attack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchFigures:
    """All that is printed."""

    tasks: int
    pairs: int
    curve: Curve
    strict: Curve
    """That of tools which answer with text, so that no record is recognized."""
    attacks: Sequence[Attacks]
    at_once: Sequence[Attacks]


def measure_curve(bench: Bench, *, is_json: bool) -> Curve:
    """Return how many tasks are done, by how often the person may approve."""
    unlimited = bench.run_tasks(Setting(is_json=is_json))
    runs = [bench.repeat(unlimited, Setting(is_json=is_json, approvals=approvals)) for approvals in APPROVALS]
    return Curve(
        tasks=len(unlimited),
        done=tuple(sum(result.is_done for result in results) for results in runs),
        unasked=sum(not result.questions for result in unlimited),
        by_luck=sum(result.utility and not result.is_done for result in runs[0]),
        reasons=count_reasons(unlimited),
    )


def measure_attacks(plain: Sequence[RunResult], unjudged: Sequence[RunResult], judged: Sequence[RunResult]) -> list[Attacks]:
    """Return what became of the pairs, by suite."""
    return [
        Attacks(
            suite=suite,
            pairs=len(results),
            read=sum(result.has_read for result in results),
            plain=_count_won(suite, plain),
            unjudged=_count_won(suite, unjudged),
            declined=sum(result.declined > 0 and not result.attacked for result in results),
            failed=sum(not result.declined and not result.attacked for result in results),
            won=_count_won(suite, results),
            words=sum(result.attacked and not result.has_injected_calls for result in results),
            utility=sum(result.utility for result in results),
        )
        for suite in dict.fromkeys(result.suite for result in judged)
        for results in [[result for result in judged if result.suite == suite]]
    ]


def _count_won(suite: str, results: Sequence[RunResult]) -> int:
    return sum(result.attacked and result.has_injected_calls for result in results if result.suite == suite)
