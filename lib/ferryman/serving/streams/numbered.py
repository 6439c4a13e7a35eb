"""Ferryman's own format: the numbered events of an execution, each of its kind, and the turn under way as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ferryman.catalog.tools import get_fee
from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.position import BEGINNING, StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.records.event import (
    Event,
    build_finished,
    build_started,
    build_tool_call,
    build_tool_result,
    build_turn,
    summarize_progress,
)
from ferryman.serving.streams import moments
from ferryman.serving.streams.frame import Frame, encode
from ferryman.serving.streams.projection import Projection
from ferryman.serving.streams.questions import AskedCall
from ferryman.serving.streams.reports import ReportedCall, describe_report


class NumberedProjection(Projection):
    """`started`, `turn`, `tool_call`, `tool_result` and `finished` with their numbers as ids, and between them `delta`.

    A `turn` has its whole text: deltas of it come while it is written only. `replaced` voids those that came. `progress` tells
    what was spent so far, and why the model does not answer; `waiting` that a call waits for a person, and `decided` what came
    of it; `call_progress` how far a call under way is. These have no id: they are of the moment, and the record tells of them
    in other ways, but for the last.
    """

    def __init__(self, position: StreamPosition = BEGINNING) -> None:
        super().__init__(position)
        self._progress: Mapping[str, Any] | None = None

    def render(self, watched: WatchedAnswer) -> list[Frame]:
        """Return the frames of what has happened since, and of the progress where there is any."""
        frames = super().render(watched)
        execution, steps = watched.execution, watched.steps
        if execution.status.terminal or not (steps or execution.model_trouble.attempts):
            return frames
        if steps and not execution.iterations:
            return frames  # it was read before its first turn was committed: what it reserves is not known yet
        progress = summarize_progress(execution, steps, fees=_sum_fees(watched.tickets))
        if progress != self._progress:
            self._progress = progress
            frames.append(Frame("", "progress", encode(progress)))
        return frames

    def project_question(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:  # noqa: ARG002 - as the others
        """Return the event `waiting`: the approval, the call, and the hash of what it would send."""
        return "waiting", encode(_describe_asked(question))

    def project_verdict(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:  # noqa: ARG002 - as the others
        """Return the event `decided`: the same, what came of it, and who approved what was sent."""
        approved = question.ticket.approved
        by = {} if approved is None else {"by": approved.by, "at": approved.at.isoformat()}
        return "decided", encode({**_describe_asked(question), "verdict": question.verdict, **by})

    def project_report(self, report: ReportedCall, watched: WatchedAnswer) -> tuple[str, str]:  # noqa: ARG002 - as the others
        """Return the event `call_progress`: the call, and how far it is."""
        about = {"seq": report.ticket.seq, "id": report.ticket.call, "name": report.ticket.tool}
        return "call_progress", encode({**about, **describe_report(report)})

    def project(self, moment: moments.Moment, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the frame of a moment."""
        event = _find_event(moment, watched)
        if event is not None:
            return event.kind, encode({"at": event.at.isoformat(), **event.body})
        match moment:
            case moments.BlockStart(is_stored=False, call=int(), block=block):
                return "delta", encode(_build_delta(moment, call=block.call, name=block.name, arguments=""))
            case moments.BlockGrowth(is_stored=False, call=None, delta=delta):
                return "delta", encode(_build_delta(moment, text=delta))
            case moments.BlockGrowth(is_stored=False, block=block, delta=delta):
                return "delta", encode(_build_delta(moment, call=block.call, name=block.name, arguments=delta))
            case moments.Replacement(iteration=iteration):
                return "replaced", encode({"iteration": iteration})
        return None


def _describe_asked(question: AskedCall) -> dict[str, Any]:
    ticket = question.ticket
    about = {"approval": ticket.approval, "seq": ticket.seq, "id": ticket.call, "name": ticket.tool}
    return {**about, "digest": ticket.form_digest}


def _find_event(moment: moments.Moment, watched: WatchedAnswer) -> Event | None:
    number = moment.after.event
    match moment:
        case moments.AnswerStart():
            return build_started(watched.execution)
        case moments.TurnEnd(step=step):
            return build_turn(step)
        case moments.CallStart(ticket=ticket):
            return build_tool_call(number, ticket)
        case moments.CallEnd(ticket=ticket) if ticket.result is not None:
            return build_tool_result(number, ticket)
        case moments.AnswerEnd():
            return build_finished(watched.execution, after=number - 1)
    return None


def _build_delta(moment: moments.BlockMoment, **members: Any) -> dict[str, Any]:
    return {"iteration": moment.iteration, "block": moment.index, **members}


def _sum_fees(tickets: Mapping[int, Ticket]) -> Decimal:
    return sum((get_fee(ticket.result) for ticket in tickets.values() if ticket.result is not None), Decimal(0))
