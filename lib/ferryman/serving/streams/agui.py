"""AG-UI 1.0: an answer as one run of a thread, with a message for each turn and for each result.

A snapshot of the messages comes in two places: where what was sent of a turn is void, and where a client that names no position
comes to a run under way. So a client that still has a part of the run neither repeats it nor keeps what is void.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.conversations.position import BEGINNING, Stage, StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.records.event import STARTED
from ferryman.serving.streams import moments
from ferryman.serving.streams.agui_messages import build_result, list_answer
from ferryman.serving.streams.following import NEVER_STARTED, follow
from ferryman.serving.streams.frame import Frame, encode
from ferryman.serving.streams.names import write_call_id, write_message_id
from ferryman.serving.streams.projection import Projection, describe_usage
from ferryman.serving.streams.questions import AskedCall
from ferryman.serving.streams.reports import ReportedCall, describe_report
from ferryman.serving.streams.results import name_call, read_outcome


class AguiProjection(Projection):
    """`history` are the messages before the answer, the question included, as a snapshot repeats them.

    `is_new` tells that nobody can have a part of the run: then it begins without a snapshot.
    """

    def __init__(
        self, position: StreamPosition = BEGINNING, *, history: Sequence[Mapping[str, Any]] = (), is_new: bool = False
    ) -> None:
        super().__init__(position)
        self._history = history
        self._is_new = is_new

    def render(self, watched: WatchedAnswer) -> list[Frame]:
        """Return the frames of what has happened since: of a run that is new to the client, first what it consists of."""
        if self._is_new:
            return super().render(watched)
        frames = []
        if self.position in (BEGINNING, StreamPosition(stage=Stage.QUEUED)):
            for moment in follow(self.position, watched):
                if not isinstance(moment, moments.AnswerWait | moments.AnswerStart):
                    break
                self.position = moment.after
                if isinstance(moment, moments.AnswerStart):
                    frames.append(Frame(str(moment.after), "", encode(_build_start(watched.execution))))
        if self.position == _find_start(watched):
            self.position = _find_target(self.position, watched)
            frames.append(Frame(str(self.position), "", encode(self._build_snapshot(watched, self.position.event))))
        return [*frames, *super().render(watched)]

    def project(self, moment: moments.Moment, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the frame of a moment; calls that others asked for have none, as in the stored message."""
        if isinstance(moment, moments.Replacement):
            return "", encode(self._build_snapshot(watched, moment.after.event))
        event = _project(moment, watched)
        return None if event is None else ("", encode(event))

    def project_question(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:
        """Return the event that a call waits for a person. It is no interrupt: no input of the client decides, and the run goes
        on by itself."""
        return "", encode(
            {"type": "CUSTOM", "name": "approval_required", "value": _describe_asked(question, watched.execution)}
        )

    def project_verdict(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str]:
        """Return the event of what came of it."""
        value = {**_describe_asked(question, watched.execution), "verdict": question.verdict}
        return "", encode({"type": "CUSTOM", "name": "approval_decided", "value": value})

    def project_report(self, report: ReportedCall, watched: WatchedAnswer) -> tuple[str, str]:
        """Return the event of how far a call under way is."""
        call = write_call_id(watched.execution.id, report.iteration, report.call)
        about = {"toolCallId": call, "toolCallName": name_call(report.ticket)}
        return "", encode({"type": "CUSTOM", "name": "tool_progress", "value": {**about, **describe_report(report)}})

    def _build_snapshot(self, watched: WatchedAnswer, last: int) -> dict[str, Any]:
        return {"type": "MESSAGES_SNAPSHOT", "messages": [*self._history, *list_answer(watched, last)]}


def _describe_asked(question: AskedCall, execution: Execution) -> dict[str, Any]:
    ticket, call = question.ticket, write_call_id(execution.id, question.iteration, question.call)
    about = {"approvalId": ticket.approval, "toolCallId": call, "toolCallName": name_call(ticket)}
    return {**about, "digest": ticket.form_digest}


def _find_start(watched: WatchedAnswer) -> StreamPosition:
    """Return the position of who knows nothing of a run but that it has begun."""
    return NEVER_STARTED if watched.execution.started_at is None else StreamPosition(event=STARTED)


def _find_target(start: StreamPosition, watched: WatchedAnswer) -> StreamPosition:
    """Return the position behind all that is committed of a run."""
    target = StreamPosition(event=start.event, stage=Stage.STEP_CLOSED)
    for moment in follow(start, watched):
        ends = isinstance(moment, moments.AnswerFailure | moments.AnswerEnd)
        if ends or getattr(moment, "iteration", 0) > len(watched.steps):
            break
        target = moment.after
    return target


def _build_start(execution: Execution) -> dict[str, Any]:
    return {"type": "RUN_STARTED", "threadId": _name_thread(execution), "runId": execution.id}


def _project(moment: moments.Moment, watched: WatchedAnswer) -> dict[str, Any] | None:
    execution = watched.execution
    match moment:
        case moments.AnswerStart():
            return _build_start(execution)
        case moments.BlockStart() | moments.BlockGrowth() | moments.BlockEnd():
            return _project_block(moment, execution)
        case moments.CallEnd(iteration=iteration, call=int(call), ticket=ticket):
            result = build_result(execution.id, iteration, call, read_outcome(ticket).content)
            return {"type": "TOOL_CALL_RESULT", **result}
        case moments.AnswerEnd():
            return _build_end(watched)
    return None


def _project_block(moment: moments.BlockMoment, execution: Execution) -> dict[str, Any]:
    message = write_message_id(execution.id, moment.iteration)
    if moment.call is None:
        match moment:
            case moments.BlockStart():
                return {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"}
            case moments.BlockGrowth(delta=delta, starts_line=starts_line):
                return {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": f"\n{delta}" if starts_line else delta}
        return {"type": "TEXT_MESSAGE_END", "messageId": message}
    call = write_call_id(execution.id, moment.iteration, moment.call)
    match moment:
        case moments.BlockStart(block=block):
            return {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": block.name, "parentMessageId": message}
        case moments.BlockGrowth(delta=delta):
            return {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta}
    return {"type": "TOOL_CALL_END", "toolCallId": call}


def _build_end(watched: WatchedAnswer) -> dict[str, Any]:
    execution = watched.execution
    usage = [describe_usage(watched)]
    if execution.status in (Status.COMPLETED, Status.KILLED):
        outcome = {"type": "success" if execution.status is Status.COMPLETED else "cancelled"}
        ids = {"threadId": _name_thread(execution), "runId": execution.id}
        return {"type": "RUN_FINISHED", **ids, "outcome": outcome, "usage": usage}
    message = execution.error or execution.status.value
    return {"type": "RUN_ERROR", "message": message, "code": execution.status.value, "usage": usage}


def _name_thread(execution: Execution) -> str:
    return execution.conversation if execution.answer else execution.id
