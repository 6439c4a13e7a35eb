"""Receipts of a run: the signed entries that each commit adds to the hash chain, and the parts of the record they cover."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman.catalog.tools import find_tool, get_fee
from ferryman.domain.calls.call import Ticket, is_outcome_unknown
from ferryman.domain.copies import replace
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.receipts import receipt
from ferryman.domain.receipts.receipt import Fact, Receipt, ReceiptKind
from ferryman.domain.records import document, event
from ferryman.domain.records.event import Event
from ferryman.loop.journal import Run
from ferryman.ports.executions import ExecutionEnding
from ferryman.ports.keys import Signer

UNNAMED = "?"
"""Replaces the name of a tool that the task does not have: the model may have written anything there."""

ExtendedChain = tuple[Execution, tuple[Receipt, ...]]
"""The execution with its chain's new head, and the entries that were added."""

Covers = Mapping[str, Any]
"""Parts of the record by name, as the record shows them."""


def sign_opening(signer: Signer, execution: Execution, opening: ExecutionSetup, entry: LedgerEntry) -> ExtendedChain:
    """Sign the first entry: where it acts and for whom, the model's instructions, and what may be used and spent."""
    assert execution.policy is not None, "an execution is opened with a policy"
    covers = {
        "opening": document.serialize_setup(opening),
        "policy": document.serialize(execution.policy),
        **_cover_events(event.build_started(execution)),
        **_cover_entry(entry),
    }
    place = {"workspace": execution.workspace, "agent": execution.agent}
    if execution.person:
        place["person"] = execution.person
    if execution.conversation:
        place["conversation"] = execution.conversation
    return _extend_chain(signer, execution, [Fact(ReceiptKind.OPENED, place, covers)], opening.started_at)


def sign_turn(
    signer: Signer,
    run: Run,
    execution: Execution,
    step: Step,
    tickets: Sequence[Ticket],
    entry: LedgerEntry | None,
    now: datetime,
) -> ExtendedChain:
    """Sign a turn's entries: the calls before it have settled, the model replied, and the calls it requests are planned."""
    covers = {
        f"steps/{step.number}": document.serialize(step),
        **_cover_events(event.build_turn(step)),
        **_cover_entry(entry),
    }
    replied = Fact(ReceiptKind.REPLIED, {"turn": step.number}, covers)
    facts = [*_build_settled_facts(execution, run), replied, *_build_planned_facts(execution, tickets)]
    return _extend_chain(signer, execution, facts, now)


def sign_sub_calls(signer: Signer, execution: Execution, tickets: Sequence[Ticket], now: datetime) -> ExtendedChain:
    """Sign that a call has asked for others: they are planned."""
    return _extend_chain(signer, execution, _build_planned_facts(execution, tickets), now)


def sign_closing(
    signer: Signer, run: Run | None, execution: Execution, ending: ExecutionEnding, now: datetime
) -> ExtendedChain:
    """Sign the last entries: the last calls have settled; the chain's length is in it, so that truncation is detected."""
    ended = replace(execution, status=ending.status, output=ending.output, error=ending.error, completed_at=now)
    finished = event.build_finished(ended, after=max(event.STARTED, execution.events))  # an execution that is run was started
    covers = {"execution": document.serialize_recorded(ended), **_cover_events(finished), **_cover_entry(ending.entry)}
    if not execution.receipts.count:
        # it was never opened: the chain covers the absence of these parts, too
        covers |= {"opening": None, "policy": None, **_cover_events(event.build_started(ended))}
    facts = [] if run is None else _build_settled_facts(execution, run)
    end = {
        "status": ending.status.value,
        "credits": format_credits(execution.credits_used),
        "count": execution.receipts.count + len(facts) + 1,
    }
    if execution.cancelled_by:
        end["cancelled_by"] = execution.cancelled_by
    return _extend_chain(signer, execution, [*facts, Fact(ReceiptKind.CLOSED, end, covers)], now)


def _build_settled_facts(execution: Execution, run: Run) -> list[Fact]:
    if run.last is None:
        return []
    numbers = event.number_calls(run.last, [*run.settled, *run.pending])
    return [_build_settled_fact(execution, ticket, numbers[ticket.seq]) for ticket in run.settled]


def _build_settled_fact(execution: Execution, ticket: Ticket, numbers: tuple[int, int]) -> Fact:
    assert ticket.result is not None, "a settled call has a result"
    in_doubt = is_outcome_unknown(ticket.result, find_tool(ticket.result.tool).policy.repeatable)
    outcome: dict[str, Any] = {"outcome": receipt.classify_outcome(ticket.result, in_doubt=in_doubt)}
    outcome["credits"] = format_credits(get_fee(ticket.result))
    if ticket.approval or ticket.approved is not None:
        outcome |= _describe_approval(ticket)
    begun, ended = numbers
    events = _cover_events(event.build_tool_call(begun, ticket), event.build_tool_result(ended, ticket))
    covers = {f"calls/{ticket.seq}": document.serialize_ticket(ticket), **events}
    return Fact(ReceiptKind.SETTLED, {**_describe_call(execution, ticket), **outcome}, covers)


def _describe_approval(ticket: Ticket) -> dict[str, Any]:
    """Return what a person was asked about a call, and who approved what was sent."""
    approved = ticket.approved
    if approved is None:
        return {"approval": ticket.approval, "digest": ticket.form_digest}
    sent = {"approval": approved.approval, "digest": approved.digest, "approved_by": approved.by}
    sent["approved_for"] = str(approved.sends_max)
    if approved.declassified:
        sent["declassified"] = hashlib.sha256(approved.declassified.encode("utf-8", "surrogatepass")).hexdigest()
    return {**sent, "approved_as": "standing"} if approved.is_standing else sent


def _build_planned_facts(execution: Execution, tickets: Sequence[Ticket]) -> list[Fact]:
    return [Fact(ReceiptKind.PLANNED, _describe_call(execution, ticket), _cover_arguments(ticket)) for ticket in tickets]


def _describe_call(execution: Execution, ticket: Ticket) -> dict[str, object]:
    tools = execution.policy.enabled if execution.policy else ()
    name = ticket.tool if ticket.tool in tools else UNNAMED
    return {"turn": ticket.step, "seq": ticket.seq, "parent": ticket.parent, "tool": name}


def _cover_arguments(ticket: Ticket) -> Covers:
    # its event is covered later, when the call before it has settled
    flow = {} if ticket.flow is None else {f"calls/{ticket.seq}/flow": document.serialize(ticket.flow)}
    return {f"calls/{ticket.seq}/arguments": document.serialize_arguments(ticket), **flow}


def _cover_events(*events: Event | None) -> Covers:
    return {f"events/{item.number}": document.serialize(item) for item in events if item is not None}


def _cover_entry(entry: LedgerEntry | None) -> Covers:
    return {} if entry is None else {f"ledger/{entry.id}": document.serialize_entry(entry)}


def _extend_chain(signer: Signer, execution: Execution, facts: Iterable[Fact], at: datetime) -> ExtendedChain:
    entries, head = receipt.append_receipts(
        execution.receipts, facts, execution=execution.id, at=at, key=signer.version, sign=signer.sign
    )
    return replace(execution, receipts=head), entries
