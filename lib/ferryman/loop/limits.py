"""The limits of calls, judged in the order of the calls before any of them is sent (S0-97, S3-35 … S3-39, S4-95)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ferryman.catalog.tools import FINDERS, list_names
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.rate import RECENT_CALLS, ExecutionRateState, check_repeats, digest_call
from ferryman.domain.calls.refusal import RATE_LIMITED, CallRefusedError
from ferryman.domain.tools.tool import Tool
from ferryman.loop.journal import Run

RATE_REFUSALS_MAX = 3
"""How many calls of one turn are refused for a limit of the plan, before the others are answered without being tried."""

SEARCHES_MAX = 20
"""How often an execution may search for tools: each search reads all of the task's declared tools."""


@dataclass(slots=True, kw_only=True)
class CallTally:
    """What the limits are judged by: the calls that the run has counted, and those that were admitted here since.

    `now` is the clock; `decided_at` the time of the latest decision, None where it needed none.
    """

    run: Run
    now: Callable[[], datetime]
    rate: ExecutionRateState
    counts: Counter[str]
    recent: deque[str]
    used: Decimal
    refused_for_rate: int
    decided_at: datetime | None = None

    @classmethod
    def begin(cls, run: Run, now: Callable[[], datetime]) -> CallTally:
        """Return a tally that knows what `run` has counted."""
        return cls(
            run=run,
            now=now,
            rate=run.execution.rate,
            counts=Counter(run.calls_made),
            recent=deque(run.recent, maxlen=RECENT_CALLS),
            used=run.execution.credits_used,
            refused_for_rate=run.count_rate_refusals(),
        )

    def admit(self, ticket: Ticket, tool: Tool) -> None:
        """Count a call as made. Raise `CallRefusedError` where a limit does not allow it; it is not counted then."""
        try:
            self._check(ticket, tool)
        except CallRefusedError as refused:
            if refused.refusal.reason == RATE_LIMITED:
                self.refused_for_rate += 1
            else:
                self.recent.append(digest_call(ticket.tool, ticket.display_arguments))
            raise
        self.counts.update(list_names(ticket))
        self.recent.append(digest_call(ticket.tool, ticket.display_arguments))
        self.used += tool.policy.fee

    def _check(self, ticket: Ticket, tool: Tool) -> None:
        self.decided_at, policy = None, self.run.execution.policy
        assert policy is not None, "an opened execution has a policy"
        if self.refused_for_rate >= RATE_REFUSALS_MAX:
            raise CallRefusedError(refusal.NOT_TRIED)
        check_repeats(digest_call(ticket.tool, ticket.display_arguments), self.recent)
        self.decided_at = self.now()
        if tool.name in FINDERS and self.counts[tool.name] >= SEARCHES_MAX:
            raise CallRefusedError(refusal.refuse_search(SEARCHES_MAX))
        for name in list_names(ticket):
            most = policy.settings_of(name).calls_max
            if most is not None and self.counts[name] >= most:
                raise CallRefusedError(refusal.refuse_call_beyond(name, most))
        rate = self.rate.admit(policy.plan, self.decided_at) if tool.policy.counts else self.rate
        if self.used + tool.policy.fee > self.run.opening.max_credits:
            raise CallRefusedError(refusal.NO_CREDITS)
        self.rate = rate
