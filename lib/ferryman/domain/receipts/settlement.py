"""Settlements: a key holder's report of a call, so that the orchestrator can sign a receipt without another read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import UNSENT, Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.labels.label import Confidentiality, FlowLabel, Integrity, Source

_TIMES = ("sent_at", "deadline", "settled_at", "resumed_at")


def write_settlement(ticket: Ticket) -> dict[str, Any]:
    """Return the report of a `ticket` that is settled, has answered, waits for a person or goes on at its host, as JSON; times
    are ISO 8601 with their offset. What goes on is sealed, and is not in it."""
    assert ticket.result is not None or ticket.state in UNSENT, "a settled call has a result"
    times = {name: None if (at := getattr(ticket, name)) is None else at.isoformat() for name in _TIMES}
    report = {"state": ticket.state.value, "attempt": ticket.attempt, "in_doubt": ticket.in_doubt}
    approved = None if ticket.approved is None else {**asdict(ticket.approved), "at": ticket.approved.at.isoformat()}
    result = None if ticket.result is None else asdict(ticket.result)
    approval = {"approval": ticket.approval, "form_digest": ticket.form_digest, "approved": approved}
    return {**report, **times, "result": result, **approval}


def read_settlement(ticket: Ticket, report: Mapping[str, Any]) -> Ticket:
    """Return `ticket` as it was settled, has answered, waits for a person or goes on at its host.

    Raise ValueError, KeyError or TypeError for anything but a settlement.
    """
    times: dict[str, Any] = {name: _parse_time(report[name]) for name in _TIMES}
    return replace(
        ticket,
        state=TicketState(report["state"]),
        attempt=int(report["attempt"]),
        in_doubt=bool(report["in_doubt"]),
        result=None if report["result"] is None else _read_result(report["result"]),
        approval=str(report["approval"]),
        form_digest=str(report["form_digest"]),
        approved=_read_approved(report["approved"]),
        **times,
    )


def _read_result(fields: Mapping[str, Any]) -> ToolCallResult:
    parts = tuple(
        Part(**{**part, "kind": PartKind(part["kind"]), "label": _read_label(part["label"])}) for part in fields["parts"]
    )
    return ToolCallResult(**{**fields, "parts": parts})


def _read_approved(fields: Mapping[str, Any] | None) -> ApprovedSend | None:
    return None if fields is None else ApprovedSend(**{**fields, "at": datetime.fromisoformat(fields["at"]).astimezone(UTC)})


def _read_label(fields: Mapping[str, Any]) -> FlowLabel:
    levels = {
        "integrity": Integrity(fields["integrity"]),
        "confidentiality": Confidentiality(fields["confidentiality"]),
    }
    return FlowLabel(**{**fields, **levels, "sources": tuple(Source(**source) for source in fields["sources"])})


def _parse_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
