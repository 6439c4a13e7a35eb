"""Calls: what the model asks of a tool, the ticket (a write-ahead journal entry of the call), and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.calls.model_use import ModelUse
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.copies import replace
from ferryman.domain.labels.label import OWNED, FlowLabel
from ferryman.domain.stale import StaleError
from ferryman.domain.stored import LEFT_OUT, STORED_NAME
from ferryman.domain.tools.tool import Repeatable, ToolPolicy

AUDIT_ROWS_MAX = 50  # rows of the execution's `tool_calls` (S0-125)
AUDIT_CHARACTERS_MAX = 1_000  # characters of `content` in an audit row; the ticket of the call has all of them
SETTLING_TIME = timedelta(seconds=5)
"""For how long after its own deadline a call counts as under way: it has to be settled, too."""

URL_CHARACTERS_MAX = 2_048
NAME_CHARACTERS_MAX = 64
"""How many characters a record keeps of a URL, and of the name of a tool, method or credential: the model sets no limit."""

TRUNCATED = "... (truncated)"  # S0-129
RESULT_CHARACTERS_MAX = 50_000
"""How much of a result the model is shown (S0-129)."""

CALL_ATTEMPTS_MAX = 3
"""How often a call is made, when each answer is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool use of the model's reply. `arguments` is the JSON object that the model wrote.

    Of a call that was routed, `called_as` is the name that was called, and `name` and `arguments` are of the tool that executes
    it (`CallRoute`).
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(repr=False)
    called_as: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """The result of one tool call, for the model and for the record: ten fields (S0-114 … S0-123), and what its tool says.

    `content` is the framed response, after a line that tells its error if it is one, or an error sentence;
    `response_size_bytes` counts the raw body; `latency_ms` is the round trip; `block_reason` is set exactly when `blocked` is.
    `ok` tells whether the tool did what it was asked; if not, `code` names the failure in lower case, and `suggestion` says
    what to do next. `parts` are what `content` consists of. `model_use` is what a call that asked a model has used, None for
    any other.
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
    ok: bool = field(default=True, kw_only=True)
    code: str | None = field(default=None, kw_only=True)
    suggestion: str | None = field(default=None, kw_only=True)
    parts: tuple[Part, ...] = field(default=(), kw_only=True, repr=False)
    model_use: ModelUse | None = field(default=None, kw_only=True, metadata=LEFT_OUT)

    @classmethod
    def from_refusal(
        cls, tool: str, refusal: Refusal, *, url: str | None = None, method: str | None = None, credential: str | None = None
    ) -> ToolCallResult:
        """Return the result of a call that was refused or that failed, with the refusal's sentence."""
        content = refusal.render()
        return cls(
            tool=tool,
            content=content,
            url=url,
            method=method,
            credential_used=credential,
            blocked=refusal.blocked,
            block_reason=refusal.reason if refusal.blocked else None,
            ok=False,
            code=refusal.reason,
            suggestion=find_suggestion(refusal.reason),
            parts=(Part(kind=PartKind.JSON, start=0, end=len(content)),) if refusal.as_object else (),
        )


class TicketState(StrEnum):
    """The state of a call: journaled, waiting for a person, sent, or settled."""

    INTENDED = "intended"
    WAITING = "waiting"
    """A person has to decide before it is sent; its approval says about what."""
    SENT = "sent"
    SETTLED = "settled"


UNSENT = (TicketState.INTENDED, TicketState.WAITING)
"""The states of a call of which nothing was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A call in the journal, written in the same commit as the turn that asked for it.

    `seq` counts the execution's calls from 0; `step` is the turn; `call` is the model's id of the tool use. `parent` is the
    `seq` of the call that asked for this one, None for a call that the model asked for itself (`sub_calls`). `arguments` are as
    they were asked for, sealed to the key holders; `display_arguments` are the same, scanned and redacted. `attempt` counts
    the claims; `in_doubt` tells that the call was sent and its outcome is unknown. `called_as` is the name that was called,
    where that is a tool whose calls `tool` executes (tools/routed): `arguments` are those of `tool` then. `label` is that of
    the arguments: of all that was read before they were written. Its sources are the calls before, and are not repeated here.
    `redacted` tells that the scan took a credential out of what the model wrote. `url_origin` is where the URL of a call
    that fetches any public page comes from. `approval` is the id of what a person is asked about it, "" where nobody was,
    `form_digest` the hash of what it would send, and `approved` who approved what was sent. `asks` counts the
    attempts that ended with asking a person. `flow` is what decided where it goes, None where no rule asks for that.
    `hidden` tells that the model does not read its result: that is handed on by a reference alone (`domain.flow.values`).
    `continuation` is what its host said that goes on of it, sealed to the key holders (`domain.calls.continuation`), b"" where
    nothing does; until it has a result, such a call is never begun again. Where it is not waited for a person, `resumed_at` is
    when its host is asked again. `progress` is what its host reported last while it is under way, for people who watch.
    `unanswered` is what became of a question of its host that no person has answered: `denied` or `approval_expired`.
    """

    seq: int
    step: int
    call: str
    tool: str
    arguments: bytes = field(repr=False)
    display_arguments: Mapping[str, Any] = field(repr=False, metadata={STORED_NAME: "shown"})
    epoch: int
    called_as: str | None = None
    state: TicketState = TicketState.INTENDED
    attempt: int = 0
    in_doubt: bool = False
    created_at: datetime
    sent_at: datetime | None = None
    deadline: datetime | None = None
    settled_at: datetime | None = None
    result: ToolCallResult | None = None
    parent: int | None = None
    label: FlowLabel = OWNED
    redacted: bool = False
    url_origin: UrlOrigin | None = None
    approval: str = field(default="", metadata=LEFT_OUT)
    form_digest: str = field(default="", metadata=LEFT_OUT)
    asks: int = field(default=0, metadata=LEFT_OUT)
    approved: ApprovedSend | None = field(default=None, metadata=LEFT_OUT)
    flow: CallFlow | None = field(default=None, metadata=LEFT_OUT)
    hidden: bool = field(default=False, metadata=LEFT_OUT)
    continuation: bytes = field(default=b"", repr=False, metadata=LEFT_OUT)
    resumed_at: datetime | None = field(default=None, metadata=LEFT_OUT)
    progress: CallProgress | None = field(default=None, metadata=LEFT_OUT)
    unanswered: str = field(default="", metadata=LEFT_OUT)

    @property
    def sends(self) -> int:
        """How many attempts were to send the call: those that ended with asking a person sent nothing."""
        return self.attempt - self.asks

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that the call is one of: of the tool that executes it, and of the one that was called."""
        return (self.tool,) if self.called_as is None else (self.tool, self.called_as)

    @property
    def goes_on(self) -> bool:
        """Whether the call was sent and has no result yet, since its host works on it or asks something."""
        return bool(self.continuation) and self.result is None

    @property
    def is_answered(self) -> bool:
        """Whether the call has a result that is not final: nobody sends it again, and its overflow is yet to be kept."""
        return self.state is TicketState.SENT and self.result is not None


def check_answered(ticket: Ticket | None) -> None:
    """Raise `StaleError` where no result waits for its overflow to be kept: somebody else has settled it."""
    if ticket is None or not ticket.is_answered:
        raise StaleError("the result of the call is settled")


def claim_ticket(ticket: Ticket, *, epoch: int, stopped: bool, now: datetime, under_way: timedelta) -> Ticket:
    """Return the ticket, claimed by the function that executes it now; one with a result is returned unchanged.

    Raise `StaleError` where it may not be claimed. A ticket that was sent may be claimed again after its deadline. `stopped`
    tells that the execution was ended.
    """
    if ticket.state is TicketState.SETTLED or ticket.result is not None:
        return ticket
    is_sent = ticket.state is TicketState.SENT and ticket.deadline is not None and now < ticket.deadline
    if is_sent or ticket.epoch != epoch:
        raise StaleError("the call is already under way")
    if stopped:
        raise StaleError("the execution was ended")
    sent_at = now if ticket.state in UNSENT else ticket.sent_at
    return replace(ticket, state=TicketState.SENT, attempt=ticket.attempt + 1, sent_at=sent_at, deadline=now + under_way)


def is_outcome_unknown(result: ToolCallResult, repeatable: Repeatable) -> bool:
    """Tell whether the call may have had an effect on its host, and nobody knows whether it did.

    `repeatable` is its tool's policy.
    """
    safe = repeatable is Repeatable.SAFE or (result.method or "").upper() in ("GET", "HEAD")
    return not result.ok and not result.blocked and result.response_status is None and not safe


def describe_parts(result: ToolCallResult) -> ToolCallResult:
    """Return `result` with its parts: where its tool names none, all of its content is one text."""
    return result if result.parts or not result.content else replace(result, parts=list_parts(result))


def list_parts(result: ToolCallResult) -> tuple[Part, ...]:
    """Return the parts of a result, as `describe_parts` says; none of an empty one."""
    if result.parts or not result.content:
        return result.parts
    return (Part(kind=PartKind.TEXT, start=0, end=len(result.content)),)


def limit_result(policy: ToolPolicy) -> int:
    """Return to how many characters a result is cut: the smallest of the limits that apply."""
    return min(RESULT_CHARACTERS_MAX, policy.result_characters_max or RESULT_CHARACTERS_MAX)


def truncate_names(result: ToolCallResult) -> ToolCallResult:
    """Return `result` with every name that the model chose cut to its limit; `content` is bounded where it is framed."""
    names = (result.tool, result.method, result.credential_used)
    if len(result.url or "") <= URL_CHARACTERS_MAX and all(len(name or "") <= NAME_CHARACTERS_MAX for name in names):
        return result
    return replace(
        result,
        tool=result.tool[:NAME_CHARACTERS_MAX],
        url=result.url[:URL_CHARACTERS_MAX] if result.url else result.url,
        method=result.method[:NAME_CHARACTERS_MAX] if result.method else result.method,
        credential_used=result.credential_used[:NAME_CHARACTERS_MAX] if result.credential_used else result.credential_used,
    )


def to_audit_row(result: ToolCallResult) -> ToolCallResult:
    """Return `result` for the execution document: bounded, `content` cut to 1,000 characters, and without its parts."""
    named, content = truncate_names(replace(result, parts=(), model_use=None)), result.content
    return named if len(content) <= AUDIT_CHARACTERS_MAX else replace(named, content=content[:AUDIT_CHARACTERS_MAX] + TRUNCATED)
