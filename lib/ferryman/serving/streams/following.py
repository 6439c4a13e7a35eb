"""Following: which moments a watcher has yet to see, derived from the position of what was seen.

The order is the same for everyone: a turn as it is written and committed, its calls with their arguments, and their results in
call order. A turn is shown again from its first block where what was seen of it is no beginning of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.calls.sub_calls import walk_calls
from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.conversations.position import BEGINNING, Stage, StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Step
from ferryman.domain.executions.message import join_text
from ferryman.domain.records.event import STARTED
from ferryman.serving.streams.blocks import read_blocks, select_visible
from ferryman.serving.streams.moments import (
    AnswerEnd,
    AnswerFailure,
    AnswerStart,
    AnswerWait,
    CallEnd,
    CallNotice,
    CallStart,
    Moment,
    StepEnd,
    StreamEnd,
    Thinking,
    TurnEnd,
)
from ferryman.serving.streams.turn import follow_turn, start_turn

NEVER_STARTED = StreamPosition(stage=Stage.THINKING)
"""The position behind the start of what has ended without one."""


def follow(position: StreamPosition, watched: WatchedAnswer, live: LiveTurn | None = None) -> Iterator[Moment]:
    """Yield the moments behind `position`, as far as they have happened.

    `live` is what this watcher was shown last of a turn that was not committed then; None where that is not known.
    """
    execution = watched.execution
    if position == BEGINNING:
        position = StreamPosition(stage=Stage.QUEUED)
        yield AnswerWait(after=position)
    if position == StreamPosition(stage=Stage.QUEUED):
        if execution.started_at is not None:
            position = StreamPosition(event=STARTED)
        elif execution.status.terminal:
            position = NEVER_STARTED
        else:
            return
        yield AnswerStart(after=position)
    turns = _group_by_turn(watched)
    for number, step in enumerate(watched.steps):
        calls = turns.get(step.number, [])
        following = watched.steps[number + 1] if number + 1 < len(watched.steps) else None
        last = following.event - 1 if following else step.event + 2 * len(calls)
        if position.event > last or (position.event == last and _is_closed(position)):
            continue
        for moment in _follow_step(position, step, calls, live, is_over=execution.status.terminal):
            position = moment.after
            yield moment
        if not _is_closed(position):
            return
    if execution.status.terminal:
        yield from _follow_end(position, watched)
    else:
        yield from _follow_live(position, watched)


def _follow_step(
    position: StreamPosition, step: Step, calls: Sequence[Ticket], live: LiveTurn | None, *, is_over: bool
) -> Iterator[Moment]:
    """Yield the rest of a committed turn, up to its first call without a result."""
    if position.event < step.event:
        blocks = read_blocks(step, None if position.is_at_start else position.live, live)
        for moment in start_turn(position, step.number):
            position = moment.after
            yield moment
        for moment in follow_turn(position, step.number, blocks, is_whole=True, is_stored=True):
            position = moment.after
            yield moment
        position = StreamPosition(event=step.event)
        yield TurnEnd(after=position, step=step)
    requested = [ticket for ticket in calls if ticket.parent is None]
    if len(requested) < step.calls:
        return  # the others were not read yet
    if position.event == step.event:
        for call in range(position.calls, len(requested)):
            position = StreamPosition(event=step.event, calls=call + 1)
            yield CallNotice(after=position, iteration=step.number, call=call, ticket=requested[call])
    numbers = {ticket.seq: call for call, ticket in enumerate(requested)}
    for number, (ticket, ends) in enumerate(walk_calls(calls), step.event + 1):
        if ends and not is_over and (ticket.state is not TicketState.SETTLED or ticket.result is None):
            return
        if number <= position.event:
            continue
        position = StreamPosition(event=number)
        if ends:
            yield CallEnd(after=position, iteration=step.number, call=numbers.get(ticket.seq), ticket=ticket)
        else:
            yield CallStart(after=position, ticket=ticket)
    yield StepEnd(after=StreamPosition(event=position.event, stage=Stage.STEP_CLOSED))


def _follow_live(position: StreamPosition, watched: WatchedAnswer) -> Iterator[Moment]:
    """Yield what there is of the turn that is not committed."""
    iteration = len(watched.steps) + 1
    last = watched.steps[-1] if watched.steps else None
    if watched.execution.started_at is None or (
        last is not None and not last.calls and not last.is_paused and not last.summarizes
    ):
        return  # the model is not asked yet, or has answered
    if position.event > _count_events(watched):
        return  # the watcher has seen more than was read here so far: which turn follows is not known
    turn = watched.live
    blocks = () if turn is None or turn.event != position.event + 1 else select_visible(turn.blocks)
    if position.live is None and not blocks:
        if position.stage is not Stage.THINKING:
            yield Thinking(after=StreamPosition(event=position.event, stage=Stage.THINKING), iteration=iteration)
        return
    if turn is None or turn.event != position.event + 1:
        return  # nothing is known of it at the moment
    for moment in start_turn(position, iteration):
        position = moment.after
        yield moment
    yield from follow_turn(position, iteration, blocks, is_whole=False, is_stored=False)


def _follow_end(position: StreamPosition, watched: WatchedAnswer) -> Iterator[Moment]:
    """Yield the end: of the text that no turn holds, where there is one, and of the execution."""
    execution, steps = watched.execution, watched.steps
    last = _count_events(watched)
    if position.event > last:
        if position.event == last + 1 and position.stage is Stage.EVENT:
            yield StreamEnd(after=StreamPosition(event=position.event, stage=Stage.OVER))
        return
    output = execution.output or ""
    is_of_turn = bool(steps) and join_text(steps[-1].content) == output
    blocks = select_visible([LiveBlock("" if is_of_turn else output)])
    if position.stage not in (Stage.OUTPUT_CLOSED, Stage.FAILURE) and (blocks or position.live is not None):
        iteration = len(steps) + 1
        for moment in start_turn(position, iteration, is_asked=False):
            position = moment.after
            yield moment
        for moment in follow_turn(position, iteration, blocks, is_whole=True, is_stored=True):
            position = moment.after
            yield moment
        position = StreamPosition(event=last, stage=Stage.OUTPUT_CLOSED)
        yield StepEnd(after=position)
    if execution.error is not None and position.stage is not Stage.FAILURE:
        yield AnswerFailure(after=StreamPosition(event=last, stage=Stage.FAILURE))
    yield AnswerEnd(after=StreamPosition(event=last + 1))
    yield StreamEnd(after=StreamPosition(event=last + 1, stage=Stage.OVER))


def _is_closed(position: StreamPosition) -> bool:
    """Tell whether the turn before is over for the watcher."""
    return position.live is not None or position.stage is not Stage.EVENT


def _count_events(watched: WatchedAnswer) -> int:
    """Return the number of the last event of what was read of an execution, before its end."""
    if not watched.steps:
        return 0 if watched.execution.started_at is None else STARTED
    last = watched.steps[-1]
    return last.event + 2 * sum(ticket.step == last.number for ticket in watched.tickets.values())


def _group_by_turn(watched: WatchedAnswer) -> dict[int, list[Ticket]]:
    turns: dict[int, list[Ticket]] = {}
    for ticket in sorted(watched.tickets.values(), key=lambda ticket: ticket.seq):
        turns.setdefault(ticket.step, []).append(ticket)
    return turns
