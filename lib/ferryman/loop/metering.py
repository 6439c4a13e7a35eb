"""Metering of a run: the usage event of each commit, and the sizes by which the provider's tokens are divided.

The provider counts a prompt and a reply as a whole. A tool's share of the prompt is that of the characters of its definition
and of its results, its share of the reply that of the calls in it: characters of JSON, as the prompt's digest is made of.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from ferryman.catalog.tools import get_expense
from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Execution, Step
from ferryman.domain.executions.message import Block
from ferryman.domain.executions.usage import Usage, count_use
from ferryman.domain.metering.counts import NOTHING
from ferryman.domain.metering.event import CallUsage, ToolTokens, UsageEvent, name_event
from ferryman.domain.metering.names import OTHER, UNCALLED, UNKNOWN, name_code, name_tool
from ferryman.domain.metering.shares import divide

TOOLS_MAX = 100
"""How many tools an event tells the tokens of by name; those of any further one are told of together."""


@dataclass(slots=True, kw_only=True)
class PromptSizes:
    """Characters of the prompt by tool: of the definitions, of all results, and of those in the last message by call."""

    definitions: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)
    latest: dict[int, int] = field(default_factory=dict)

    def add_definitions(self, tools: Iterable[Mapping[str, Any]]) -> None:
        """Add definitions that the prompt lists from now on."""
        for tool in tools:
            self.definitions[tool["name"]] += _measure(tool)

    def add_results(self, answers: Iterable[tuple[Ticket, Block]], enabled: Collection[str]) -> None:
        """Add the results of a turn's calls, with the blocks that the model reads of them."""
        sizes = [(ticket, _measure(block)) for ticket, block in answers]
        self.latest = {ticket.seq: size for ticket, size in sizes}
        for ticket, size in sizes:
            self.results[_name(ticket, enabled)] += size


@dataclass(frozen=True, slots=True, kw_only=True)
class Metered:
    """What a commit is metered by: the state of the run before it. `settled` are the calls since the commit before, `usage`
    is that of the turns so far."""

    execution: Execution
    model: str
    usage: Usage
    sizes: PromptSizes
    prompt_characters: int
    settled: tuple[Ticket, ...]

    def build_turn(self, step: Step, *, llm_tokens: Decimal) -> UsageEvent:
        """Return the event of a turn: its `llm_tokens` are the credits that the ledger has for it."""
        enabled = self._list_enabled()
        prompt = step.usage.input_tokens + step.usage.cache_read_tokens + step.usage.cache_write_tokens
        tokens, calls, text_tokens = self._divide_prompt(prompt, enabled)
        text_tokens += _divide_reply(step, enabled, tokens)
        extracted = self._add_extracted(enabled, tokens)
        return UsageEvent(
            id=name_event(self.execution.id, step.number),
            workspace=self.execution.workspace,
            agent=self.execution.agent,
            model=self.model,
            at=step.at,
            turns=0 if self.execution.called_tool else 1,
            usage=step.usage + extracted,
            text_tokens=text_tokens,
            llm_tokens=llm_tokens,
            tools=_list_tokens(tokens),
            calls=calls,
        )

    def build_end(self, turn: int, *, llm_tokens: Decimal, at: datetime) -> UsageEvent | None:
        """Return the event of the end, after `turn`; None where nothing was used since."""
        enabled = self._list_enabled()
        uncommitted = self.execution.usage - self.usage  # of a reply that was paid for, and not accepted
        tokens: dict[str, Counter[str]] = {}
        extracted = self._add_extracted(enabled, tokens)
        event = UsageEvent(
            id=name_event(self.execution.id, turn + 1),
            workspace=self.execution.workspace,
            agent=self.execution.agent,
            model=self.model,
            at=at,
            turns=int(uncommitted.total > 0),
            usage=uncommitted + extracted,
            text_tokens=uncommitted.total,
            llm_tokens=llm_tokens,
            tools=_list_tokens(tokens),
            calls=tuple(_meter_call(ticket, enabled, 0) for ticket in self.settled),
        )
        return None if event.is_empty else event

    def _add_extracted(self, enabled: Collection[str], tokens: dict[str, Counter[str]]) -> Usage:
        """Return what the settled calls that asked a model have used, and add it to the tokens of their tools."""
        extracted = Usage()
        for ticket in self.settled:
            use = None if ticket.result is None else ticket.result.model_use
            if use is not None:
                used = count_use(use)
                tokens.setdefault(_name(ticket, enabled), Counter())["call_tokens"] += used.total
                extracted += used
        return extracted

    def _list_enabled(self) -> frozenset[str]:
        return frozenset(self.execution.policy.enabled if self.execution.policy else ())

    def _divide_prompt(
        self, total: int, enabled: Collection[str]
    ) -> tuple[dict[str, Counter[str]], tuple[CallUsage, ...], int]:
        """Divide the tokens of the prompt: into tokens by tool and kind, calls with those of their results, and the rest."""
        sizes = self.sizes
        latest = [(ticket, sizes.latest.get(ticket.seq, 0)) for ticket in self.settled]
        earlier = Counter(sizes.results)
        for ticket, size in latest:
            earlier[_name(ticket, enabled)] -= size
        called = [name for name in sizes.definitions if name in sizes.results]
        parts = [("definition_tokens", name, sizes.definitions[name]) for name in called]
        parts.append(("definition_tokens", UNCALLED, sizes.definitions.total() - sum(size for *_, size in parts)))
        parts += [("result_tokens", name, size) for name, size in earlier.items()]
        known = sum(size for *_, size in parts) + sum(size for _, size in latest)
        weights = [*(size for *_, size in parts), *(size for _, size in latest), max(1, self.prompt_characters - known)]
        *shares, text_tokens = divide(total, weights)
        tokens: dict[str, Counter[str]] = {}
        for (kind, name, _), share in zip(parts, shares, strict=False):
            tokens.setdefault(name, Counter())[kind] += share
        results = shares[len(parts) :]
        for (ticket, _), share in zip(latest, results, strict=True):
            tokens.setdefault(_name(ticket, enabled), Counter())["result_tokens"] += share
        calls = tuple(_meter_call(ticket, enabled, share) for (ticket, _), share in zip(latest, results, strict=True))
        return tokens, calls, text_tokens


def meter_unread(execution: Execution, *, llm_tokens: Decimal, at: datetime) -> UsageEvent | None:
    """Return the event of the end of an execution whose journal cannot be read; None where nothing was spent since."""
    if llm_tokens == NOTHING:
        return None
    return UsageEvent(
        id=name_event(execution.id, 0),
        workspace=execution.workspace,
        agent=execution.agent,
        model=UNKNOWN,
        at=at,
        turns=0,
        llm_tokens=llm_tokens,
    )


def _divide_reply(step: Step, enabled: Collection[str], tokens: dict[str, Counter[str]]) -> int:
    """Divide the tokens of the reply among the calls in it, into `tokens`; return the rest."""
    names = [name_tool(block["name"], enabled) if block["type"] == "tool_use" else "" for block in step.content]
    shares = divide(step.usage.output_tokens, [*map(_measure, step.content), 0])
    for name, share in zip(names, shares, strict=False):
        if name:
            tokens.setdefault(name, Counter())["call_tokens"] += share
    return shares[-1] + sum(share for name, share in zip(names, shares, strict=False) if not name)


def _list_tokens(tokens: Mapping[str, Counter[str]]) -> tuple[ToolTokens, ...]:
    """Return the rows of the tools, the first of them by name, and one of all others."""
    named: dict[str, Counter[str]] = {}
    for name, kinds in tokens.items():
        if kinds.total():
            named.setdefault(name if len(named) < TOOLS_MAX else OTHER, Counter()).update(kinds)
    return tuple(ToolTokens(tool=name, **kinds) for name, kinds in named.items())


def _meter_call(ticket: Ticket, enabled: Collection[str], result_tokens: int) -> CallUsage:
    result = ticket.result
    assert result is not None, "a settled call has a result"
    expense = get_expense(result)
    return CallUsage(
        seq=ticket.seq,
        tool=_name(ticket, enabled),
        code="" if result.ok else name_code(result.code),
        latency_ms=result.latency_ms,
        result_tokens=result_tokens,
        expense=expense.expense,
        credits=expense.credits,
        bytes=expense.bytes,
    )


def _name(ticket: Ticket, enabled: Collection[str]) -> str:
    """Return the name under which a call is told of: that which the model called."""
    return name_tool(ticket.called_as or ticket.tool, enabled)


def _measure(value: Any) -> int:
    return len(json.dumps(value))
