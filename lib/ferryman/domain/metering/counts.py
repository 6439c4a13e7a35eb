"""Counts: what was used under one name on one day. Any two are added exactly, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

from ferryman.domain.credits.amount import format_credits
from ferryman.domain.executions.usage import Usage
from ferryman.domain.metering import latency
from ferryman.domain.metering.latency import Histogram

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCounts:
    """Counts of turns and calls, their tokens, and what they cost.

    `usage` are the provider's four numbers as it counted them, `turns` its replies. The other tokens are the estimated shares
    of these: of the definitions of tools, of their results, of the calls that the model wrote, and of all other text.
    `failures` counts the failed ones of the `calls` by code, `latencies` is the histogram of all. Credits are by account of the
    ledger; `storage_unmetered` are the bytes that were entered there.
    """

    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    definition_tokens: int = 0
    result_tokens: int = 0
    call_tokens: int = 0
    text_tokens: int = 0
    calls: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    latencies: Histogram = ()
    llm_tokens: Decimal = NOTHING
    api_call_fee: Decimal = NOTHING
    embedding: Decimal = NOTHING
    storage_unmetered: int = 0

    def __add__(self, other: UsageCounts) -> UsageCounts:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMMED}
        failures = dict(sorted((Counter(self.failures) + Counter(other.failures)).items()))
        return UsageCounts(**sums, failures=failures, latencies=latency.merge(self.latencies, other.latencies))

    @property
    def tokens(self) -> int:
        """All tokens: of a tool those of its definition, results and calls, which are shares of what the provider counted."""
        return self.definition_tokens + self.result_tokens + self.call_tokens + self.text_tokens

    @property
    def credits(self) -> Decimal:
        """The credits of all accounts."""
        return self.llm_tokens + self.api_call_fee + self.embedding

    def to_row(self) -> dict[str, Any]:
        """Return what is above 0, as JSON has it."""
        row: dict[str, Any] = {name: getattr(self, name) for name in _WHOLE}
        row |= {field.name: getattr(self.usage, field.name) for field in fields(Usage)}
        row |= {name: format_credits(getattr(self, name)) if getattr(self, name) else 0 for name in _CREDITS}
        row |= {"failures": dict(self.failures), "latencies": list(self.latencies)}
        return {name: value for name, value in row.items() if value}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> UsageCounts:
        """Return the counts of a row. Raise ValueError, TypeError or ArithmeticError where it is none."""
        usage = Usage(**{field.name: int(row.get(field.name, 0)) for field in fields(Usage)})
        whole: dict[str, Any] = {name: int(row.get(name, 0)) for name in _WHOLE}
        whole |= {name: Decimal(row.get(name, 0)) for name in _CREDITS}
        failures = {str(code): int(count) for code, count in row.get("failures", {}).items()}
        return cls(**whole, usage=usage, failures=failures, latencies=tuple(map(int, row.get("latencies", ()))))


_CREDITS = ("llm_tokens", "api_call_fee", "embedding")
_WHOLE = (
    *("turns", "definition_tokens", "result_tokens", "call_tokens", "text_tokens"),
    *("calls", "storage_unmetered"),
)
_SUMMED = ("usage", *_WHOLE, *_CREDITS)
