"""Bars: what must be true of an execution when it is over, whatever was done to it on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

from ferryman.domain import refusal
from ferryman.domain.call import Ticket, TicketState, audit_row
from ferryman.domain.execution import Execution, Step
from ferryman.domain.ledger import FEES, TOKENS, Entry, account_of, balances
from ferryman.domain.purse import Purse, of_owner
from ferryman.domain.usage import Usage
from tests.crash.ground import PRICES
from tests.crash.stories import KEYED, Story

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One request an upstream carried out."""

    path: str
    method: str
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One model call: for which turn, counted from 0, and the most it could cost."""

    turn: int
    worst: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that is left of a run: in the store, and at those it reached."""

    story: Story
    execution: Execution
    steps: Sequence[Step]
    tickets: Sequence[Ticket]
    entries: Sequence[Entry]
    purses: Sequence[Purse]
    effects: Sequence[Effect]
    asked: Sequence[Asked]


def broken(record: Record, whole: Record | None = None) -> list[str]:
    """Every rule that `record` breaks, each named by its first word; `whole` is what the story left uninterrupted."""
    return [*_lost(record), *_doubled(record), *_audit(record), *_charged(record, whole), *_ledger(record)]


def _lost(record: Record) -> list[str]:
    ended, story = record.execution, record.story
    found = []
    if ended.status is not story.status:
        found.append(f"lost: the execution is {ended.status} ({ended.error}) where it should be {story.status}")
    elif story.output is not None and ended.output != story.output:
        found.append(f"lost: its output is {ended.output!r}")
    if story.enabled and story.cancelled_at is None and len(record.steps) != len(story.turns) + 1:
        found.append(f"lost: {len(record.steps)} turns are recorded of {len(story.turns) + 1}")
    return found


def _doubled(record: Record) -> list[str]:
    found = []
    known = set()
    for ticket in record.tickets:
        url = urlsplit(str(ticket.shown.get("url", "")))
        safe = str(ticket.shown.get("method", "GET" if ticket.tool == "http_get" else "POST")) == "GET"
        keyed = url.hostname == KEYED and not safe
        effects = [each for each in record.effects if each.path == url.path]
        known.add(url.path)
        where = f"call {ticket.seq} ({ticket.tool} {url.path})"
        if keyed and len({each.key for each in effects} | {f"{record.execution.id}-{ticket.seq}"}) > 1:
            found.append(f"doubled: {where} was sent under the keys {[each.key for each in effects]}")
        if not keyed and not safe and len(effects) > 1:
            found.append(f"doubled: {where} had its effect {len(effects)} times")
        found += _told(ticket, where, effects=len(effects), doubtful=not keyed and not safe)
    found += [f"doubled: nobody asked for {each.path}" for each in record.effects if each.path not in known]
    return found


def _told(ticket: Ticket, where: str, *, effects: int, doubtful: bool) -> list[str]:
    """What the model and the owner are told of a call has to be what happened."""
    result = ticket.result
    if result is None:
        return [f"lost: {where} has no result"]
    in_doubt = result.content == refusal.in_doubt().message
    found = []
    if in_doubt != ticket.in_doubt:
        found.append(f"lost: {where} is in doubt for the model or for the owner only")
    if in_doubt and not doubtful:
        found.append(f"lost: {where} could have been repeated, and is in doubt")
    if result.response_status is not None and not effects:
        found.append(f"lost: {where} is said to be done, and was not")
    if result.response_status is None and not in_doubt and effects:
        found.append(f"lost: {where} was done, and is said to be refused")
    return found


def _audit(record: Record) -> list[str]:
    ended, found = record.execution, []
    if any(ticket.state is not TicketState.SETTLED for ticket in record.tickets):
        found.append("audit: a ticket is not settled")
    rows = tuple(audit_row(ticket.result) for ticket in record.tickets if ticket.result is not None)
    if ended.tool_calls != rows or ended.tool_calls_total != len(record.tickets):
        found.append(f"audit: {len(ended.tool_calls)} rows ({ended.tool_calls_total} counted) for {len(record.tickets)} calls")
    if [ticket.seq for ticket in record.tickets] != list(range(sum(step.calls for step in record.steps))):
        found.append("audit: the tickets are not those of the turns")
    if [step.number for step in record.steps] != list(range(1, len(record.steps) + 1)):
        found.append("audit: a turn is missing")
    if sum((step.usage for step in record.steps), Usage()) != ended.usage:
        found.append("audit: the usage is not that of the turns")
    entered = {entry.id for entry in record.entries}
    turns = [step.number for step in record.steps if step.credits]
    found += [f"audit: turn {each} is not in the ledger" for each in turns if f"{ended.id}.turn-{each:05d}" not in entered]
    return found


def _charged(record: Record, whole: Record | None) -> list[str]:
    """Each turn once, each call's fee once, and the worst of a model call that was sent and whose turn there is none."""
    ended = record.execution
    due = sum((step.credits for step in record.steps), NOTHING)
    due += _fees(record.tickets)
    unknown = [each.worst for each in record.asked if each.turn >= len(record.steps)]
    due = min(record.story.max_credits, due + (unknown[-1] if unknown else NOTHING))
    price = PRICES.of("scripted/x")
    assert price is not None
    found = []
    if ended.credits_used != due:
        found.append(f"charged: {ended.credits_used} credits where {due} are due")
    if any(step.credits != price.credits(step.usage) for step in record.steps):
        found.append("charged: a turn costs something else than its tokens")
    if whole is not None and record.story.cancelled_at is None:
        # a call in doubt is billed as one that was sent, also where the uninterrupted one was refused before
        same = [each for each in record.tickets if not each.in_doubt]
        paid = ended.credits_used - _fees(record.tickets) + _fees(same)
        normal = whole.execution.credits_used - _fees(whole.tickets) + _fees(whole.tickets[each.seq] for each in same)
        if paid != normal:
            found.append(f"charged: {paid} credits, uninterrupted {normal}, calls in doubt left out")
    if ended.credits_held or ended.asked:
        found.append(f"charged: {ended.credits_held} credits are still held, {ended.asked} model calls still open")
    return found


def _fees(tickets: Iterable[Ticket]) -> Decimal:
    return sum((each.result.fee for each in tickets if each.result), NOTHING)


def _ledger(record: Record) -> list[str]:
    ended, found = record.execution, []
    stands = balances(record.entries)
    if sum(stands.values(), NOTHING):
        found.append(f"ledger: it sums to {sum(stands.values(), NOTHING)}")
    if stands.get(account_of(ended), NOTHING):
        found.append(f"ledger: {stands[account_of(ended)]} credits are left in the execution's account")
    if -stands.get(of_owner(ended.owner), NOTHING) != ended.credits_used:
        found.append(f"ledger: the owner paid {-stands.get(of_owner(ended.owner), NOTHING)} of {ended.credits_used}")
    if stands.get(TOKENS, NOTHING) + stands.get(FEES, NOTHING) != ended.credits_used:
        found.append("ledger: tokens and fees are not what was used")
    wrong = (each for each in record.purses if (each.credits_used, each.credits_reserved) != (ended.credits_used, NOTHING))
    return found + [f"purse: {each.id} has used {each.credits_used} and holds {each.credits_reserved}" for each in wrong]
