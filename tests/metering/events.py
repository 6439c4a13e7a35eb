"""Usage events for tests: drawn by a seed, and what the ledger would have for them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from ferryman.domain.executions.usage import Usage
from ferryman.domain.expense import CALL_EXPENSES, Expense
from ferryman.domain.metering.counts import NOTHING, UsageCounts
from ferryman.domain.metering.event import CallUsage, ToolTokens, UsageEvent, name_event
from ferryman.domain.metering.shares import divide

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
TOOLS = ("http_get", "api_call", "web_fetch", "file_read", "look_up", "(unknown)")
MODELS = ("scripted/a", "claude-b")
AGENTS = ("agent_1", "agent_2", "agent_3")
CODES = ("", "", "", "timed_out", "not_found", "(other)")


def build_event(number: int | str = 1, **fields: object) -> UsageEvent:
    """Return an event of a turn with one call."""
    call = CallUsage(seq=0, tool="http_get", latency_ms=20.0, expense=Expense.API_CALL_FEE, credits=Decimal("0.5"))
    values = {
        **{"id": name_event(f"exec_{number}", 1), "workspace": "ws_1", "agent": "agent_1", "model": "scripted/a"},
        **{"at": MONDAY, "usage": Usage(input_tokens=90, output_tokens=10), "text_tokens": 60, "llm_tokens": Decimal("0.25")},
        **{"tools": (ToolTokens(tool="http_get", definition_tokens=10, result_tokens=25, call_tokens=5),), "calls": (call,)},
    }
    return UsageEvent(**{**values, **fields})  # type: ignore[arg-type]


def draw_event(random_: random.Random, number: int, *, days: int = 7) -> UsageEvent:
    """Return an event of one of `days` days, whose tokens and credits are drawn."""
    usage = Usage(
        input_tokens=random_.randrange(5_000),
        output_tokens=random_.randrange(1_000),
        cache_read_tokens=random_.randrange(3_000),
        cache_write_tokens=random_.randrange(3_000),
    )
    tools = random_.sample(TOOLS, random_.randrange(len(TOOLS)))
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    *shares, rest = divide(prompt, [random_.randrange(1_000) for _ in range(2 * len(tools) + 1)])
    tokens = [
        ToolTokens(tool=name, definition_tokens=shares[2 * index], result_tokens=shares[2 * index + 1])
        for index, name in enumerate(tools)
    ]
    return build_event(
        id=name_event(f"exec_{number}", number % 7),
        agent=random_.choice(AGENTS),
        model=random_.choice(MODELS),
        at=MONDAY + timedelta(seconds=random_.randrange(days * 86_400)),
        usage=usage,
        text_tokens=rest + usage.output_tokens,
        llm_tokens=Decimal(random_.randrange(100_000)) / 10_000,
        tools=tuple(tokens),
        calls=tuple(_draw_call(random_, seq) for seq in range(random_.randrange(4))),
    )


def _draw_call(random_: random.Random, seq: int) -> CallUsage:
    expense = random_.choice(CALL_EXPENSES)
    is_metered = expense is not Expense.STORAGE_UNMETERED
    return CallUsage(
        seq=seq,
        tool=random_.choice(TOOLS),
        code=random_.choice(CODES),
        latency_ms=random_.choice((None, random_.random() * 100_000)),
        expense=expense,
        credits=random_.choice((NOTHING, Decimal("0.5"), Decimal("0.0001"))) if is_metered else NOTHING,
        bytes=0 if is_metered else random_.randrange(10_000),
    )


def sum_counts(counts: Iterable[UsageCounts]) -> UsageCounts:
    """Return the sum of counts."""
    return sum(counts, UsageCounts())
