"""A record: everything that is kept of an execution, as one document without a sealed byte in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ferryman.domain.execution import Opening, Step
from ferryman.domain.ledger import Entry
from ferryman.domain.record import Record
from ferryman.domain.remit import Remit
from ferryman.serving.api.shapes import call, execution, table
from ferryman.serving.api.shapes.shape import Answered, Credits

FORMAT: Literal["ferryman.record/1"] = "ferryman.record/1"


class OpeningShown(Answered):
    """What every model call of the execution is made of. `price` is in US dollars for a million tokens, by kind of token."""

    model: str
    system: str
    prompt: str
    tools: tuple[dict[str, Any], ...]
    max_tokens: int
    temperature: float | None
    max_iterations: int
    max_credits: Credits
    started_at: datetime
    price: dict[str, str]
    patience_s: float


class RemitShown(Answered):
    """What the execution was allowed to do, frozen when it began."""

    owner: str
    task: str
    plan: table.PlanShown
    tools: tuple[str, ...]
    integrations: tuple[str, ...]
    domains: tuple[str, ...]
    webhook: bool
    webhook_urls: tuple[str, ...]
    webhook_match: str
    credentials: tuple[str, ...]
    credits_per_month: Credits | None
    declared: dict[str, str]


class StepShown(Answered):
    """One turn: what the model said, in the form that was scanned.

    `prompt_digest` is the SHA-256 of what it had been asked, `slice` the delivery that committed the turn.
    """

    number: int
    content: tuple[dict[str, Any], ...]
    stop_reason: str
    usage: execution.Tokens
    credits: Credits
    first_call: int
    calls: int
    event: int
    at: datetime
    slice: int
    prompt_digest: str


class EventShown(Answered):
    """An event as watchers were told it."""

    number: int
    kind: str
    at: datetime
    body: dict[str, Any]


class PostingShown(Answered):
    """Credits that came into an account, or left it when negative."""

    account: str
    credits: Credits


class EntryShown(Answered):
    """A movement of credits; its postings sum to zero."""

    id: str
    at: datetime
    postings: tuple[PostingShown, ...]


class RecordShown(Answered):
    """The full account of an execution; `opening` and `remit` are null where it ended before it was opened."""

    format: Literal["ferryman.record/1"]
    execution: execution.ExecutionShown
    opening: OpeningShown | None
    remit: RemitShown | None
    steps: tuple[StepShown, ...]
    calls: tuple[call.CallShown, ...]
    events: tuple[EventShown, ...]
    ledger: tuple[EntryShown, ...]


def shown(record: Record) -> RecordShown:
    """`record` as it is answered."""
    remit = record.execution.remit
    return RecordShown(
        format=FORMAT,
        execution=execution.shown(record.execution),
        opening=None if record.opening is None else _opening(record.opening),
        remit=None if remit is None else _remit(remit),
        steps=tuple(_step(each) for each in record.steps),
        calls=tuple(call.shown(each) for each in record.tickets),
        events=tuple(
            EventShown(number=each.number, kind=each.kind, at=each.at, body=dict(each.body)) for each in record.events
        ),
        ledger=tuple(_entry(each) for each in record.entries),
    )


def _opening(of: Opening) -> OpeningShown:
    same = {name: getattr(of, name) for name in OpeningShown.model_fields if name not in ("tools", "price")}
    return OpeningShown(tools=tuple(dict(each) for each in of.tools), price=dict(of.price), **same)


def _remit(of: Remit) -> RemitShown:
    same = {name: getattr(of, name) for name in RemitShown.model_fields if name != "plan"}
    return RemitShown(plan=table.plan(of.plan), **same)


def _step(of: Step) -> StepShown:
    same = {name: getattr(of, name) for name in StepShown.model_fields if name not in ("content", "usage")}
    return StepShown(content=tuple(dict(each) for each in of.content), usage=execution.tokens(of.usage), **same)


def _entry(of: Entry) -> EntryShown:
    postings = tuple(PostingShown(account=each.account, credits=each.credits) for each in of.postings)
    return EntryShown(id=of.id, at=of.at, postings=postings)
