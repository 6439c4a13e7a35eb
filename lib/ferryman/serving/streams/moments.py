"""Moments: what happens in an answer, in an order that everyone sees, each with the position of a watcher who has seen it."""

from __future__ import annotations

from dataclasses import dataclass

from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.live import LiveBlock
from ferryman.domain.conversations.position import StreamPosition
from ferryman.domain.executions.execution import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One moment. `after` is the position behind it."""

    after: StreamPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWait(Moment):
    """The execution is stored, and begins in its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStart(Moment):
    """The execution has started; or it has ended without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking(Moment):
    """The model is asked for turn `iteration`, counted from 1."""

    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStart(Moment):
    """The first of turn `iteration` is there."""

    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMoment(Moment):
    """A moment of block `index` of turn `iteration`. `call` is the number of the call in its turn, None for a text.

    `is_stored` tells that the turn is committed: what its event says is all of it.
    """

    iteration: int
    index: int
    call: int | None
    is_stored: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStart(BlockMoment):
    """A block begins."""

    block: LiveBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockGrowth(BlockMoment):
    """A block goes on with `delta`. `starts_line` tells that it is the beginning of a text, with another text before it."""

    block: LiveBlock
    delta: str
    starts_line: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEnd(BlockMoment):
    """A block is whole, or nothing more of it will come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement(Moment):
    """What was seen of turn `iteration` is void: its first block follows again, or the answer goes on without it."""

    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd(Moment):
    """A turn is committed, with its usage."""

    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNotice(Moment):
    """A call of the model is journaled, with its arguments: call `call` of turn `iteration`, from 0."""

    iteration: int
    call: int
    ticket: Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStart(Moment):
    """A call begins, or one that another asked for: the event of number `after.event`."""

    ticket: Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnd(Moment):
    """A call has its result; or the answer has ended without one, where the ticket has none.

    `call` is its number in turn `iteration`, None for a call that another asked for.
    """

    iteration: int
    call: int | None
    ticket: Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd(Moment):
    """A turn is over, with its calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFailure(Moment):
    """The answer has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEnd(Moment):
    """The execution has ended: the event of number `after.event`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd(Moment):
    """Nothing follows."""
