"""Figures: a user's assumptions about executions, each within its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.settings import Settings

KNOWN = Settings()  # the default settings of a deployment, lengths in seconds
LIMITS: Mapping[str, tuple[int, int]] = {
    "executions": (1, 1_000_000_000),
    "calls": (0, 10_000),
    "turns": (1, 10_000),
    "model_seconds": (0, 600),
    "call_seconds": (0, REQUEST_SECONDS),
    "answer_kb": (0, 2_048),
    "request_kb": (0, 1_024),
    "round_trip_ms": (0, 10_000),
    "startup_seconds": (0, 60),
    "at_once": (1, 1_000),
    "page_hours": (0, 1_000_000),
}
"""The lowest and the highest value of each figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """So many `executions` in a month, alike: `calls` in `turns` model calls, the last of which answers.

    `call_seconds` is the time of a service to answer with `answer_kb` (KiB) to the `request_kb` of a call, encryption included;
    `round_trip_ms` that of a request to one of Google's services; `startup_seconds` the start of each function for each
    execution (0: instances are running); `at_once` the number of executions that share an instance, up to its concurrency.
    `watched` executions have one watcher each; those `by_document` are asked for by an application's document. `recovery`: the
    database is deployed with point-in-time recovery. `page_hours`: how long a page of the console is open and seen.
    """

    executions: int = 1_000
    calls: int = 10
    turns: int = 11
    model_seconds: Decimal = Decimal(4)
    call_seconds: Decimal = Decimal("0.5")
    answer_kb: Decimal = Decimal(10)
    request_kb: Decimal = Decimal(4)
    round_trip_ms: Decimal = Decimal(10)
    startup_seconds: Decimal = Decimal(0)
    at_once: int = 1
    page_hours: Decimal = Decimal(1)
    watched: bool = False
    by_document: bool = False
    recovery: bool = True


def check_figures(figures: Figures) -> None:
    """Raise `InvalidInputError` with every figure that is beyond its limits."""
    problems = [
        Problem(field=name, message=f"must be from {least:,} to {most:,}, not {value}")
        for name, (least, most) in LIMITS.items()
        if not least <= float(value := getattr(figures, name)) <= most
    ]
    if figures.calls and figures.turns == 1:
        problems.append(Problem(field="turns", message="must be at least 2 where there are calls: the last turn makes none"))
    waiting = figures.turns * figures.model_seconds + figures.calls * figures.call_seconds
    if not problems and waiting > KNOWN.execution_s:
        most = f"{KNOWN.execution_s:,.0f} s (FERRYMAN_EXECUTION_S)"
        problems.append(Problem(field="turns", message=f"an execution may take {most} in all; these wait for {waiting:,.0f}"))
    if problems:
        raise InvalidInputError(problems)
