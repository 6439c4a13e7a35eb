"""Receipts of an execution that was planted and never ran: a whole chain, whose last entry covers its record part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.calls.call import Ticket
from ferryman.domain.copies import replace
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.receipts.receipt import Fact, Head, Receipt, ReceiptKind, append_receipts, classify_outcome
from ferryman.domain.records import document
from ferryman.domain.records.record import Record
from ferryman.inmemory.clock import START
from ferryman.inmemory.memory import Memory
from ferryman.vault.sign import SigningKey
from ferryman.verify_receipts import PARTS


def sign_execution(memory: Memory, name: str, private: bytes) -> None:
    """Store the receipts of the execution `name`, in the place of those that it has; one under way has no last entry."""
    execution, tickets = memory.executions[name], memory.tickets[name].values()
    steps = [step for _, step in sorted(memory.steps[name].items())]
    facts, settled = [Fact(ReceiptKind.OPENED, {}, {})], list[Fact]()
    for step in steps:
        calls = [ticket for ticket in tickets if ticket.step == step.number]
        facts += [*settled, Fact(ReceiptKind.REPLIED, {"turn": step.number}, {})]
        facts += [Fact(ReceiptKind.PLANNED, _describe(ticket), {}) for ticket in calls]
        settled = [fact for ticket in calls for fact in _settle(ticket)]
    if execution.status.terminal:
        entries = [entry for entry in memory.entries.values() if entry.execution == name]
        record = Record(execution=execution, opening=memory.openings[name], steps=steps, tickets=list(tickets), entries=entries)
        spent = format_credits(execution.credits_used)
        end = {"status": execution.status.value, "credits": spent, "count": len(facts) + len(settled) + 1}
        facts += [*settled, Fact(ReceiptKind.CLOSED, end, _list_parts(document.serialize_record(record)))]
    key = SigningKey(1, private)
    receipts, head = append_receipts(Head(), facts, execution=name, at=START, key=1, sign=key.sign)
    memory.receipts[name] = dict[int, tuple[Receipt, ...]]({0: receipts})
    memory.executions[name] = replace(execution, receipts=head)


def _describe(ticket: Ticket) -> dict[str, Any]:
    return {"turn": ticket.step, "seq": ticket.seq, "parent": ticket.parent, "tool": ticket.tool}


def _settle(ticket: Ticket) -> Sequence[Fact]:
    if ticket.result is None:
        return []
    outcome = classify_outcome(ticket.result, in_doubt=ticket.in_doubt)
    return [Fact(ReceiptKind.SETTLED, {**_describe(ticket), "outcome": outcome, "credits": "0"}, {})]


def _list_parts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a record by the names that receipts cover them by, with the arguments of each call."""
    parts = {name: record[name] for name, named_by in PARTS.items() if not named_by}
    for name, named_by in PARTS.items():
        parts |= {f"{name}/{item[named_by]}": item for item in (record[name] if named_by else ())}
    return parts | {f"calls/{call['seq']}/arguments": call["arguments"] for call in record["calls"]}
