"""Calls: what the model asked of a tool, the ticket that carries it, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.tool import get_function

AUDIT_ROWS_MAX = 50
"""Rows of the execution's `tool_calls` (S0-125)."""

AUDIT_CHARACTERS_MAX = 1_000
"""Characters of `content` in an audit row; the whole of it stands in the call's ticket."""

SETTLES = timedelta(seconds=5)
"""How long past its own deadline a call is still taken to be under way: it has to be settled, too."""

URL_CHARACTERS_MAX = 2_048
NAME_CHARACTERS_MAX = 64
"""What a record keeps of a URL, and of a tool's, a method's or a credential's name: the model may write any length."""

TRUNCATED = "... (truncated)"  # S0-129

ERROR = "Error: "
"""How a result begins that is an error; what a host answered begins with its frame."""

AUTHENTICATED = "api_call"
"""The tool whose calls name their credential (S0-9)."""

CALL_CREDITS = Decimal("0.5")
"""What one authenticated call costs on top of the model's tokens (S0-111)."""

FREE = frozenset(("http_get", "http_post", "webhook", "import_openapi_tools", "delete_tool_cluster"))
"""The tools whose calls carry no credential, and cost nothing (S0-112)."""


SAFE = frozenset(("http_get", "import_openapi_tools", "delete_tool_cluster"))
"""The tools whose calls may be made again without further effect, whatever they say."""


def get_fee(tool: str) -> Decimal:
    """What one call of `tool` may cost, in credits."""
    return Decimal(0) if tool in FREE else CALL_CREDITS


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool use of the model's reply. `arguments` is whatever JSON object the model wrote."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """What came of one tool call, for the model and for the record (S0-114 … S0-123).

    `content` is the framed response or an error sentence; `response_size_bytes` counts the raw body; `latency_ms` is the
    round trip; `block_reason` is set exactly when `blocked` is.
    """

    tool: str
    content: str = field(repr=False)
    url: str | None = None
    method: str | None = None
    credential_used: str | None = None
    response_status: int | None = None
    response_size_bytes: int | None = None
    latency_ms: float | None = None
    blocked: bool = False
    block_reason: str | None = None

    @classmethod
    def refused(
        cls,
        tool: str,
        refusal: Refusal,
        *,
        url: str | None = None,
        method: str | None = None,
        credential: str | None = None,
        latency_ms: float | None = None,
    ) -> ToolCallResult:
        """The result of a call that was refused or that failed, carrying the refusal's sentence."""
        return cls(
            tool=tool,
            content=refusal.message,
            url=url,
            method=method,
            credential_used=credential,
            latency_ms=latency_ms,
            blocked=refusal.blocked,
            block_reason=refusal.reason if refusal.blocked else None,
        )

    @property
    def failed(self) -> bool:
        """Whether the model is told of an error: nothing came back, or what did is one by the tool's declaration (S1-39)."""
        return self.response_status is None or self.content.startswith(ERROR)

    @property
    def fee(self) -> Decimal:
        """Credits for the call itself: an authenticated call that was not blocked (S0-111 … S0-113)."""
        if self.blocked or self.credential_used is None:
            return Decimal(0)
        return get_fee(self.tool)


class TicketState(StrEnum):
    """Where a call stands: written down, on its way, or answered."""

    INTENDED = "intended"
    SENT = "sent"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A call as it is journaled, in the same commit as the turn that asked for it.

    `attempt` counts the times it was claimed; `in_doubt` tells that it was sent and nobody knows what came of it.

    `seq` counts the execution's calls from 0; `step` is the turn. `arguments` are the model's own, sealed to the key
    holders; `shown` is what may be read of them (scanned). `call` is the model's id of the tool use.
    """

    seq: int
    step: int
    call: str
    tool: str
    arguments: bytes = field(repr=False)
    shown: Mapping[str, Any] = field(repr=False)
    epoch: int
    state: TicketState = TicketState.INTENDED
    attempt: int = 0
    in_doubt: bool = False
    created_at: datetime
    sent_at: datetime | None = None
    deadline: datetime | None = None
    settled_at: datetime | None = None
    result: ToolCallResult | None = None


def claim_ticket(ticket: Ticket, *, tool: str, epoch: int, stopped: bool, now: datetime, under_way: timedelta) -> Ticket:
    """The ticket as the function `tool` takes it to carry it now; a settled one as it stands. Raises `StaleError` when it may
    not.

    One that was sent may be taken again when its deadline has passed. `stopped` tells that the execution was ended.
    """
    if get_function(ticket.tool) != tool:
        raise StaleError("the call is another tool's")
    if ticket.state is TicketState.SETTLED:
        return ticket
    under = ticket.state is TicketState.SENT and ticket.deadline is not None and now < ticket.deadline
    if under or ticket.epoch != epoch:
        raise StaleError("the call is already on its way")
    if stopped:
        raise StaleError("the execution was ended")
    sent_at = now if ticket.state is TicketState.INTENDED else ticket.sent_at
    return replace(ticket, state=TicketState.SENT, attempt=ticket.attempt + 1, sent_at=sent_at, deadline=now + under_way)


def is_outcome_unknown(result: ToolCallResult) -> bool:
    """Whether the call was sent, may have changed something at the other end, and nobody knows whether it did."""
    safe = result.tool in SAFE or (result.method or "").upper() in ("GET", "HEAD")
    return not result.blocked and result.response_status is None and not safe


def truncate_names(result: ToolCallResult) -> ToolCallResult:
    """`result` with every word the model chose cut to what a record keeps; `content` is bounded where it is framed."""
    return replace(
        result,
        tool=result.tool[:NAME_CHARACTERS_MAX],
        url=result.url[:URL_CHARACTERS_MAX] if result.url else result.url,
        method=result.method[:NAME_CHARACTERS_MAX] if result.method else result.method,
        credential_used=result.credential_used[:NAME_CHARACTERS_MAX] if result.credential_used else result.credential_used,
    )


def to_audit_row(result: ToolCallResult) -> ToolCallResult:
    """`result` as the execution document keeps it: all ten fields, bounded, `content` cut to 1,000 characters."""
    content = result.content
    if len(content) > AUDIT_CHARACTERS_MAX:
        content = content[:AUDIT_CHARACTERS_MAX] + TRUNCATED
    return replace(truncate_names(result), content=content)
