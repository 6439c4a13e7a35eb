"""A call: its result, and its ticket."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from ferryman.catalog.tools import get_fee
from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.calls.part import PartKind
from ferryman.domain.labels.label import Confidentiality, Integrity
from ferryman.domain.records import document
from ferryman.serving.api.shapes.shape import Credits, ListPage, ParentCall, ResponseShape


class SourceResponse(ResponseShape):
    """Where a value was read: the tool, the call's `seq`, and the URL without its query and the credential that it used."""

    tool: str
    call: int
    url: str | None
    credential: str | None


class FlowLabelResponse(ResponseShape):
    """How far a value may be trusted, who may read it, and from where it was read; `more` tells that there is more."""

    integrity: Integrity
    confidentiality: Confidentiality
    sources: tuple[SourceResponse, ...]
    more: bool


class PartResponse(ResponseShape):
    """The characters of a result's `content` from `start` up to `end`, and what they are.

    `json` is one object or array as it is written there; `binary` describes a body that is no text, of which nothing is shown;
    `file` refers to a stored file. `media_type` is what the host called it, `size_bytes` and `sha256` (hex) are those of a
    binary body or a file.
    """

    kind: PartKind
    start: int
    end: int
    media_type: str | None
    size_bytes: int | None
    sha256: str | None
    file: str | None
    label: FlowLabelResponse


class ResultRow(ResponseShape):
    """The result of one call."""

    tool: str
    content: str
    url: str | None
    method: str | None
    credential_used: str | None
    response_status: int | None
    response_size_bytes: int | None
    latency_ms: float | None
    blocked: bool
    block_reason: str | None
    ok: bool = Field(description="Whether the tool did what it was asked")
    code: str | None = Field(description="The name of the failure, in lower case; null: `ok` is true")
    suggestion: str | None = Field(description="What to do next after a failure; null: there is nothing to say")


class ModelUseResponse(ResponseShape):
    """What a call that asked a model has used: how many model calls, their tokens and credits; of a text of so many
    `characters` it has read the first `read`."""

    calls: int
    credits: Credits
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    characters: int
    read: int


class Result(ResultRow):
    """The result of one call in full: with `parts`, which say what its `content` consists of.

    That of a call which asked a model has `model_use`; any other has no such member.
    """

    parts: tuple[PartResponse, ...]
    model_use: ModelUseResponse | None = None


class ApprovedSendResponse(ResponseShape):
    """The approval under which a call was sent: its id, the SHA-256 of what was approved, by whom, a person or `owner`,
    and when.

    `is_standing` tells that it was approved beforehand, `sends_max` for how many sends, and `declassified` is the value that
    the person declassified with it, "" for none.
    """

    approval: str
    digest: str
    by: str
    at: datetime
    is_standing: bool
    sends_max: int
    declassified: str


class CallFlowResponse(ResponseShape):
    """Whether untrusted text may have decided where a call goes, why that is so, and the tree of what decided, in lines."""

    asks: bool
    reason: str
    lines: tuple[str, ...]


class CallResponse(ResponseShape):
    """One call as it was journaled; its arguments as they were scanned, its result in full.

    `attempt` counts its tries; until `deadline` the latest may be under way. `in_doubt` tells that it was sent, and that nobody
    knows whether it was executed. A call that a person was asked about has `approval`, the id of what was asked last, and the
    SHA-256 of what would have been sent; one that a person approved has `approved`, and one that
    was judged as its ticket was written has `flow`; any other has no such member.
    """

    seq: int
    parent: ParentCall
    iteration: int
    id: str
    tool: str
    called_as: str | None = Field(
        description="The tool that was called, where another one executes its calls; null: `tool` itself"
    )
    arguments: dict[str, Any]
    state: TicketState
    attempt: int
    in_doubt: bool
    label: FlowLabelResponse
    created_at: datetime
    sent_at: datetime | None
    deadline: datetime | None
    settled_at: datetime | None
    approval: str | None = None
    form_digest: str | None = None
    approved: ApprovedSendResponse | None = None
    flow: CallFlowResponse | None = None
    hidden: bool = Field(default=False, description="True: the model does not read its result, and refers to it alone")
    result: Result | None


class ListedCall(CallResponse):
    """A call as it was journaled, and what it has cost.

    Without `details` its `arguments`, and the `content` and `parts` of its result, are empty.
    """

    credits: Credits | None = Field(description="Its fee, or what the model that it asked has cost; null: it has no result yet")


class CallList(ListPage):
    """A page of an execution's calls, in order."""

    calls: tuple[ListedCall, ...]


def to_response(ticket: Ticket) -> CallResponse:
    """Return the response for `ticket`, without its sealed arguments."""
    return CallResponse.model_validate(document.serialize_ticket(ticket))


def to_listed(ticket: Ticket) -> ListedCall:
    """Return the response for `ticket` with what the call has cost."""
    fee = None if ticket.result is None else get_fee(ticket.result)
    return ListedCall.model_validate({**document.serialize_ticket(ticket), "credits": fee})
