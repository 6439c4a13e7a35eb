"""What has to be so of calls that waited for a person, whatever died before the decision, with it and after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ferryman.domain.approvals.approval import STATE_OF, Approval, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.refusal import DENIED, EDITED
from ferryman.domain.remote_servers.names import is_remote_name
from tests.campaigns.crash.deciding import CONFLICT, DEVICES
from tests.campaigns.crash.scenarios import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAnswer:
    """What one device decided about an approval, and the state of it that it was answered, or `CONFLICT`."""

    approval: str
    device: int
    verdict: DecisionVerdict
    state: str


def name_effect(ticket: Ticket) -> str:
    """Return the path that the effect of a call is counted under: of its URL, or of a tool of an MCP server its name."""
    if is_remote_name(ticket.tool):
        return f"/{ticket.tool}"
    return urlsplit(str(ticket.display_arguments.get("url", ""))).path


def find_contradicted(approvals: Sequence[Approval], answers: Sequence[DeviceAnswer]) -> list[str]:
    """Return the answers that are not about what is stored, and the approvals that a device decided about for nothing.

    Who decides as it was decided is answered that state, also as the second; who decides otherwise is refused.
    """
    states = {approval.id: approval.state for approval in approvals}
    findings = []
    for answer in answers:
        stored, decided = states[answer.approval], STATE_OF[DecisionVerdict(answer.verdict)]
        due = stored.value if stored is decided else CONFLICT
        if answer.state != due:
            findings.append(f"contradicted: device {answer.device} is answered {answer.state} of an approval that is {stored}")
    for approval in approvals:
        devices = {answer.device for answer in answers if answer.approval == approval.id}
        if approval.decided is not None and len(devices) != DEVICES:
            findings.append(f"contradicted: {approval.id} is {approval.state}, and answered to {len(devices)} devices")
    return findings


def find_undecided(
    scenario: Scenario, tickets: Sequence[Ticket], effects: Iterable[Any], approvals: Sequence[Approval]
) -> list[str]:
    """Return the calls whose effect, result or approval is not what a person decided, and the approvals that still wait."""
    if scenario.decides is None:
        return []
    findings = [f"undecided: {approval.id} still waits" for approval in approvals if approval.state is ApprovalState.PENDING]
    states = {approval.id: approval.state for approval in approvals}
    sent = {effect.path for effect in effects if effect.method == "POST"}
    for ticket in tickets:
        path = name_effect(ticket)
        if ticket.tool in ("pass", "extract", "http_get") or ticket.display_arguments.get("method") == "GET":
            continue
        if not ticket.approval and not ticket.in_doubt:
            findings.append(f"unasked: nobody was asked about call {ticket.seq}")
        is_lost = scenario.contested and states.get(ticket.approval) is ApprovalState.DENIED
        verdict = DecisionVerdict.DENY if is_lost else scenario.decides
        findings += _compare(verdict, ticket, is_sent=path in sent)
    return findings


def _compare(verdict: DecisionVerdict, ticket: Ticket, *, is_sent: bool) -> list[str]:
    result, where = ticket.result, f"call {ticket.seq}"
    if ticket.in_doubt:
        return []  # who claimed it died, and nobody knows whether that was before it was sent
    if verdict is DecisionVerdict.DENY:
        is_right = not is_sent and result is not None and result.code == DENIED and ticket.approved is None
        return [] if is_right else [f"undecided: {where} was denied, and is {result}, sent: {is_sent}"]
    if verdict is DecisionVerdict.EDIT and ticket.parent is None:
        is_right = result is not None and result.block_reason == EDITED and ticket.approved is None
        return [] if is_right else [f"undecided: {where} was edited, and is {result}"]
    is_right = is_sent and ticket.approved is not None and ticket.approved.by == "pat"
    return [] if is_right else [f"undecided: {where} was approved, and is {result}, sent: {is_sent}, by {ticket.approved}"]
