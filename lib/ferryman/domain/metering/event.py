"""Usage events: what one turn and the calls before it used, stored in the commit that stores the turn itself (outbox).

There is one for each turn, and one for the end where something was used since. An event has no text of a prompt, of arguments
or of a result, and no URL: only names of tools that the task has enabled, of models and agents, and numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from ferryman.domain.executions.usage import Usage
from ferryman.domain.expense import Expense
from ferryman.domain.metering.counts import NOTHING, UsageCounts
from ferryman.domain.metering.latency import count_latency
from ferryman.domain.metering.names import TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUsage:
    """A call that has settled: `seq` is its number in the execution, `code` the code of its failure, "" where it did not fail.

    `result_tokens` is the share that its result had of the prompt in which the model read it first; 0 where that came to none.
    `credits` and `bytes` are what it is entered in the account `expense` with.
    """

    seq: int
    tool: str
    code: str = ""
    latency_ms: float | None = None
    result_tokens: int = 0
    expense: Expense
    credits: Decimal = NOTHING
    bytes: int = 0

    def count(self) -> UsageCounts:
        """Return the call as counts; its tokens are counted with its tool's."""
        entered: dict[str, Any] = {self.expense.value: self.bytes}
        if self.expense is not Expense.STORAGE_UNMETERED:
            entered = {self.expense.value: self.credits}
        return UsageCounts(
            calls=1, failures={self.code: 1} if self.code else {}, latencies=count_latency(self.latency_ms), **entered
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTokens:
    """A tool's shares of a turn's tokens: of its definition, of its results in the prompt, and of its calls in the reply."""

    tool: str
    definition_tokens: int = 0
    result_tokens: int = 0
    call_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageEvent:
    """What a turn used, and the calls that settled since the turn before; `turns` is 0 at the end, which has no reply.

    `usage` has the provider's four numbers, unchanged. The tokens of `tools` and `text_tokens` sum up to it, to the unit.
    `llm_tokens` are the credits of the tokens, as the ledger has them.
    """

    id: str
    workspace: str
    agent: str
    model: str
    at: datetime
    turns: int = 1
    usage: Usage = field(default_factory=Usage)
    text_tokens: int = 0
    llm_tokens: Decimal = NOTHING
    tools: tuple[ToolTokens, ...] = ()
    calls: tuple[CallUsage, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was used."""
        return not (self.turns or self.calls or self.llm_tokens)

    def count_tools(self) -> Mapping[str, UsageCounts]:
        """Return the counts by tool: of the calls, and of the tokens, with those of no tool under `TEXT`."""
        counts: dict[str, UsageCounts] = {}
        for name, part in self._list_parts():
            counts[name] = counts.get(name, UsageCounts()) + part
        return counts

    def count_all(self) -> UsageCounts:
        """Return the counts of the whole event."""
        whole = UsageCounts(turns=self.turns, usage=self.usage, llm_tokens=self.llm_tokens)
        return sum((part for _, part in self._list_parts()), whole)

    def _list_parts(self) -> Iterator[tuple[str, UsageCounts]]:
        for call in self.calls:
            yield call.tool, call.count()
        for tool in self.tools:
            tokens: dict[str, Any] = asdict(tool)
            yield tokens.pop("tool"), UsageCounts(**tokens)
        if self.text_tokens:
            yield TEXT, UsageCounts(text_tokens=self.text_tokens)


def name_event(execution: str, turn: int) -> str:
    """Return the id of the event of a turn, or of the end, which comes after the last turn: it tells neither."""
    return hashlib.sha256(f"{execution}/{turn}".encode()).hexdigest()[:32]
