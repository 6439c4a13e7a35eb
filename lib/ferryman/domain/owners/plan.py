"""Plans: the limits of a subscription."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ferryman.domain.stored import LEFT_OUT

KIBIBYTE = 1024

FILE_BYTES = 1024 * KIBIBYTE * KIBIBYTE
"""Of a workspace's files, where a plan says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The limits of one subscription. Credits are worth $0.001 each.

    Of an owner, over all instances: `executions_running` hold a lease at once (the queue delivers 100 at once: ten owners
    fill it, not one), `executions_queued` wait for their first one (one more is refused), `streams` of events are open at once
    (an instance of the API takes 80 requests). `tools` are the names of the tools that it allows, with or without their prefix;
    an empty list allows every tool. `file_bytes` are those of the files that one workspace keeps.
    """

    name: str
    calls_per_execution: int
    calls_per_minute: int
    response_bytes: int
    iterations: int
    credits_per_execution: Decimal
    credits_per_month: Decimal
    schedule_minutes: int
    executions_running: int
    executions_queued: int
    streams: int
    tools: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    file_bytes: int = field(default=FILE_BYTES, metadata=LEFT_OUT)


GURU = Plan(
    name="guru",
    calls_per_execution=20,  # S0-93
    calls_per_minute=10,  # S0-94
    response_bytes=500 * KIBIBYTE,  # S0-95
    iterations=20,
    credits_per_execution=Decimal(500),
    credits_per_month=Decimal(10_000),
    schedule_minutes=15,
    executions_running=5,
    executions_queued=50,
    streams=10,
)

PRO = Plan(
    name="pro",
    calls_per_execution=50,  # S0-93
    calls_per_minute=20,  # S0-94
    response_bytes=2 * KIBIBYTE * KIBIBYTE,  # S0-95
    iterations=50,
    credits_per_execution=Decimal(2_500),
    credits_per_month=Decimal(55_000),
    schedule_minutes=5,
    executions_running=10,
    executions_queued=200,
    streams=20,
    file_bytes=5 * 1024 * KIBIBYTE * KIBIBYTE,
)

PLANS: Mapping[str, Plan] = {plan.name: plan for plan in (GURU, PRO)}
"""An owner on any other plan (a free one, say) cannot run tasks (S0-99)."""
