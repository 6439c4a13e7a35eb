"""Invariants: what must be true of an execution when it is over, whatever was done to it on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

from ferryman import verify_receipts
from ferryman.catalog.tools import get_fee
from ferryman.domain.approvals.approval import Approval
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, TicketState, to_audit_row
from ferryman.domain.calls.sub_calls import order_calls
from ferryman.domain.credits.balance import CreditBalance, CreditPart, list_parts, name_owner_balance
from ferryman.domain.credits.ledger import LedgerEntry, name_account, sum_accounts
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.usage import Usage, count_use
from ferryman.domain.expense import Expense
from ferryman.domain.metering.counts import UsageCounts
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.records import record as domain
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.serving.api.shapes import record as shapes
from tests.campaigns.crash.chats import StoredChat, find_unanswered
from tests.campaigns.crash.decided import DeviceAnswer, find_contradicted, find_undecided, name_effect
from tests.campaigns.crash.files import StoredFiles, find_misfiled
from tests.campaigns.crash.fixtures import SECRETS
from tests.campaigns.crash.limits import find_beyond
from tests.campaigns.crash.peers import PRICES
from tests.campaigns.crash.scenarios import KEY, KEYED, PIECES, Scenario

NOTHING = Decimal(0)


SCHEDULE = re.compile(r'"id": "(task_cron_[0-9a-f]+)"')
"""The id of a schedule in the answer that tells of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One request that an upstream executed."""

    path: str
    method: str
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One model call: for which turn, counted from 0, and the most it could cost."""

    turn: int
    worst: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that a run left: in the store, at the upstreams and at the model."""

    scenario: Scenario
    execution: Execution
    steps: Sequence[Step]
    tickets: Sequence[Ticket]
    entries: Sequence[LedgerEntry]
    opening: ExecutionSetup | None
    receipts: Sequence[Receipt]
    balance: CreditBalance
    effects: Sequence[Effect]
    model_calls: Sequence[ModelCall]
    events: Sequence[UsageEvent]
    preferences: Mapping[str, Sequence[str]]
    schedules: Sequence[str] = ()
    """What is kept for the user, by kind."""
    approvals: Sequence[Approval] = ()
    answers: Sequence[DeviceAnswer] = ()
    chat: StoredChat | None = None
    files: StoredFiles | None = None
    """What is in the bucket, where the scenario has files."""


def find_broken(record: Record, whole: Record | None = None) -> list[str]:
    """Return every rule that `record` breaks, each named by its first word; `whole` is what the scenario left uninterrupted."""
    findings = [*_find_lost(record), *_find_doubled(record), *_audit(record), *_find_overcharged(record, whole)]
    findings += find_beyond(record)
    return [
        *findings,
        *_find_unkept(record),
        *_find_unmade(record),
        *_find_unscheduled(record),
        *find_misfiled(record, whole),
        *find_undecided(record.scenario, record.tickets, record.effects, record.approvals),
        *find_contradicted(record.approvals, record.answers),
        *find_unanswered(record.chat, record.execution, record.steps, is_titled=record.scenario.is_titled),
        *_ledger(record),
        *_find_unmetered(record),
        *_find_leaked(record),
        *_receipts(record),
    ]


def _find_lost(record: Record) -> list[str]:
    ended, scenario = record.execution, record.scenario
    findings = []
    if ended.status is not scenario.status:
        findings.append(f"lost: the execution is {ended.status} ({ended.error}) where it should be {scenario.status}")
    elif scenario.output is not None and ended.output != scenario.output:
        findings.append(f"lost: its output is {ended.output!r}")
    turns = scenario.turns_due
    if scenario.begins and scenario.cancelled_at is None and len(record.steps) != turns:
        findings.append(f"lost: {len(record.steps)} turns are recorded of {turns}")
    return findings


def _find_unkept(record: Record) -> list[str]:
    """Check that what is kept for the user is what the calls that say so have saved, each once and in their order."""
    saved: dict[str, list[str]] = {}
    findings = []
    for ticket in record.tickets:
        if ticket.tool != "save_preference" or ticket.result is None or not ticket.result.ok:
            continue
        kind, preference = (ticket.display_arguments[name] for name in ("kind", "preference"))
        saved[kind] = [*(other for other in saved.get(kind, ()) if other != preference), preference]
        if ticket.result.content != f"Saved. Preferences of this kind: {len(saved[kind])}.":
            findings.append(f"lost: call {ticket.seq} answers {ticket.result.content!r} where {saved[kind]} are kept")
    if saved != record.preferences:
        findings.append(f"lost: {record.preferences} are kept where the calls have saved {saved}")
    return findings


def _find_unmade(record: Record) -> list[str]:
    """Check that each call of an MCP server's tool was made, or may have been: nothing of these is refused."""
    calls = [ticket for ticket in record.tickets if is_remote_name(ticket.tool) and ticket.result is not None]
    refused = [ticket for ticket in calls if ticket.result and not ticket.result.ok and not ticket.in_doubt]
    findings = [f"lost: call {ticket.seq} ({ticket.tool}) is {str(ticket.result)[:200]!r}" for ticket in refused]
    return findings if calls or not record.scenario.remote else ["lost: no tool of a server is called"]


def _find_unscheduled(record: Record) -> list[str]:
    """Check that what is scheduled is what the calls that say so have added, each once."""
    results = [ticket.result for ticket in record.tickets if ticket.tool == "cron_add" and ticket.result is not None]
    added = [match[1] for result in results if result.ok and (match := SCHEDULE.search(result.content))]
    if sorted(added) != list(record.schedules):
        return [f"doubled: {record.schedules} are scheduled where the calls have added {added}"]
    if record.scenario.schedules and len(added) != record.scenario.schedules:
        return [f"lost: {len(added)} schedules are added of {record.scenario.schedules}"]
    return []


def _find_leaked(record: Record) -> list[str]:
    """Check that at most half of a key was sent in pieces, whichever process died while adding them up."""
    sent = [piece for piece in PIECES if any(effect.path == f"/{piece}" for effect in record.effects)]
    count = sum(map(len, sent))
    return [f"leaked: {count} characters of a key were sent"] if count * 2 > len(SECRETS[KEY][2]) else []


def _find_doubled(record: Record) -> list[str]:
    findings = []
    known = set()
    for ticket in record.tickets:
        url = urlsplit(str(ticket.display_arguments.get("url", "")))
        safe = (
            str(ticket.display_arguments.get("method", "GET" if ticket.tool in ("http_get", "web_fetch") else "POST")) == "GET"
        )
        keyed = url.hostname == KEYED and not safe
        path = name_effect(ticket)
        effects = [effect for effect in record.effects if effect.path == path]
        known.add(path)
        where = f"call {ticket.seq} ({ticket.tool} {path})"
        if keyed and len({item.key for item in effects} | {f"{record.execution.id}-{ticket.seq}"}) > 1:
            findings.append(f"doubled: {where} was sent under the keys {[entry.key for entry in effects]}")
        if not keyed and not safe and len(effects) > 1:
            findings.append(f"doubled: {where} had its effect {len(effects)} times")
        findings += _find_untold(ticket, where, effects=len(effects), doubtful=not keyed and not safe)
    findings += [f"doubled: nobody asked for {element.path}" for element in record.effects if element.path not in known]
    return findings


def _find_untold(ticket: Ticket, where: str, *, effects: int, doubtful: bool) -> list[str]:
    """Check that what the model and the owner are told of a call is what happened."""
    result = ticket.result
    if result is None:
        return [f"lost: {where} has no result"]
    if result.block_reason == refusal.EDITED:
        return []  # what is told is of the call that was made instead
    in_doubt = result.content == refusal.IN_DOUBT.message
    findings = []
    if in_doubt != ticket.in_doubt:
        findings.append(f"lost: {where} is in doubt for the model or for the owner only")
    if in_doubt and not doubtful:
        findings.append(f"lost: {where} could have been repeated, and is in doubt")
    if result.response_status is not None and not effects:
        findings.append(f"lost: {where} is said to be done, and was not")
    if result.response_status is None and not in_doubt and effects:
        findings.append(f"lost: {where} was done, and is said to be refused")
    return findings


def _audit(record: Record) -> list[str]:
    ended, findings = record.execution, []
    if any(ticket.state is not TicketState.SETTLED for ticket in record.tickets):
        findings.append("audit: a ticket is not settled")
    settled = [ticket for step in record.steps for ticket in order_calls(_list_of_turn(record, step.number))]
    rows = tuple(to_audit_row(ticket.result) for ticket in settled if ticket.result is not None)
    if ended.tool_calls != rows or ended.tool_calls_total != len(record.tickets):
        rows_text = f"{len(ended.tool_calls)} rows ({ended.tool_calls_total} counted)"
        findings.append(f"audit: {rows_text} for {len(record.tickets)} calls")
    asked_for = sum(ticket.parent is not None for ticket in record.tickets)
    if [ticket.seq for ticket in record.tickets] != list(range(sum(step.calls for step in record.steps) + asked_for)):
        findings.append("audit: the tickets are not those of the turns")
    if [step.number for step in record.steps] != list(range(1, len(record.steps) + 1)):
        findings.append("audit: a turn is missing")
    usages = [count_use(ticket.result.model_use) for ticket in record.tickets if ticket.result is not None]
    if sum((*(step.usage for step in record.steps), *usages), Usage()) != ended.usage:
        findings.append("audit: the usage is not that of the turns")
    entered = {entry.id for entry in record.entries}
    turns = [step.number for step in record.steps if step.credits]
    findings += [f"audit: turn {turn} is not in the ledger" for turn in turns if f"{ended.id}.turn-{turn:05d}" not in entered]
    return findings


def _list_of_turn(record: Record, number: int) -> list[Ticket]:
    return [ticket for ticket in record.tickets if ticket.step == number]


def _receipts(record: Record) -> list[str]:
    """Check that all that the API would show is what was signed, whichever of its writers died."""
    parts = {"opening": record.opening, "steps": record.steps, "tickets": record.tickets, "entries": record.entries}
    account = shapes.to_response(domain.Record(execution=record.execution, **parts)).model_dump_json(exclude_unset=True)
    chain = {"entries": [entry.to_json() for entry in record.receipts]}
    wrong, bare = verify_receipts.compare(chain, json.loads(account))
    return [f"receipts: {part} is not covered as it is" for part in (*wrong, *bare)]


def _find_overcharged(record: Record, whole: Record | None) -> list[str]:
    """Check the charge: each turn once, each call's fee once, and the worst case of a model call that has no turn."""
    ended = record.execution
    due = sum((step.credits for step in record.steps), NOTHING)
    due += _fees(record.tickets)
    unknown = [item.worst for item in record.model_calls if item.turn >= len(record.steps)]
    due = min(record.scenario.max_credits, due + (unknown[-1] if unknown else NOTHING))
    price = PRICES.find("scripted/x")
    assert price is not None
    findings = []
    if ended.credits_used != due:
        findings.append(f"charged: {ended.credits_used} credits where {due} are due")
    if any(step.credits != price.compute_credits(step.usage) for step in record.steps):
        findings.append("charged: a turn costs something else than its tokens")
    if whole is not None and record.scenario.cancelled_at is None and not record.scenario.contested:
        # a call in doubt is billed as one that was sent, also where the uninterrupted one was refused before
        same = [ticket for ticket in record.tickets if not ticket.in_doubt]
        paid = ended.credits_used - _fees(record.tickets) + _fees(same)
        normal_calls = {ticket.call: ticket for ticket in whole.tickets}
        normal = whole.execution.credits_used - _fees(whole.tickets) + _fees(normal_calls[entry.call] for entry in same)
        if paid != normal:
            findings.append(f"charged: {paid} credits, uninterrupted {normal}, calls in doubt left out")
    if ended.credits_held or ended.pending_model_calls:
        findings.append(
            f"charged: {ended.credits_held} credits are still held, {ended.pending_model_calls} model calls still open"
        )
    return findings


def _fees(tickets: Iterable[Ticket]) -> Decimal:
    return sum((get_fee(ticket.result) for ticket in tickets if ticket.result), NOTHING)


def _find_unmetered(record: Record) -> list[str]:
    """Return where the usage events of the execution are not what its ledger and its record have."""
    ended, totals = record.execution, sum_accounts(record.entries)
    used = sum((event.count_all() for event in record.events), UsageCounts())
    findings = [
        f"unmetered: {getattr(used, expense)} {expense} where the ledger has {totals.get(expense, NOTHING)}"
        for expense in (Expense.LLM_TOKENS, Expense.API_CALL_FEE, Expense.EMBEDDING)
        if getattr(used, expense) != totals.get(expense, NOTHING)
    ]
    if (used.usage, used.calls) != (ended.usage, ended.tool_calls_total):
        findings.append(f"unmetered: {used.usage}, {used.calls} calls where there were {ended.usage}, {ended.tool_calls_total}")
    return findings


def _ledger(record: Record) -> list[str]:
    ended, findings = record.execution, []
    totals = sum_accounts(record.entries)
    if sum(totals.values(), NOTHING):
        findings.append(f"ledger: it sums to {sum(totals.values(), NOTHING)}")
    if totals.get(name_account(ended), NOTHING):
        findings.append(f"ledger: {totals[name_account(ended)]} credits are left in the execution's account")
    if -totals.get(name_owner_balance(ended.owner), NOTHING) != ended.credits_used:
        findings.append(
            f"ledger: the owner paid {-totals.get(name_owner_balance(ended.owner), NOTHING)} of {ended.credits_used}"
        )
    if sum((totals.get(expense, NOTHING) for expense in Expense), NOTHING) != ended.credits_used:
        findings.append("ledger: the expenses are not what was used")
    balance, others = record.balance, record.scenario.conversation
    counts = {"owner": balance, **{name: balance.parts.get(name, CreditPart()) for name in list_parts(ended)}}
    used, reserved = (others.credits_used, others.credits_reserved) if others else (NOTHING, NOTHING)
    return findings + [
        f"balance: {name} has used {count.credits_used} and {count.credits_reserved} are reserved"
        for name, count in counts.items()
        if (count.credits_used, count.credits_reserved) != (ended.credits_used + used, reserved)
    ]
