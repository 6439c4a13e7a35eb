"""A projection: the frames of one format for one watcher, who has seen everything up to a position."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.conversations.position import BEGINNING, Stage, StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.serving.streams.following import follow
from ferryman.serving.streams.frame import Frame
from ferryman.serving.streams.moments import CallEnd, Moment
from ferryman.serving.streams.questions import AskedCall, list_asked, was_noticed
from ferryman.serving.streams.reports import ReportedCall, list_reported


class Projection(ABC):
    """What one watcher is sent; each format makes at most one frame of a moment.

    The frames depend on the position and on what is watched alone: any process makes the rest of a stream from the id of the
    last frame that its watcher has.
    """

    headers: ClassVar[Mapping[str, str]] = {}
    """What the response says of the format."""

    asks_first: ClassVar[bool] = False
    """Whether its client has to be told that a call waits before it is told what came of it."""

    def __init__(self, position: StreamPosition = BEGINNING) -> None:
        self.position = position
        self._live: LiveTurn | None = None
        self._reported: dict[int, tuple[str, str | None]] = {}
        """What this watcher was told of calls that a person is asked about: the approval, and what came of it."""
        self._progress_of: dict[int, CallProgress] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing follows."""
        return self.position.stage is Stage.OVER

    def render(self, watched: WatchedAnswer) -> list[Frame]:
        """Return the frames of what has happened since, and have them seen."""
        frames, questions = [], list_asked(watched)
        for moment in follow(self.position, watched, self._live):
            if isinstance(moment, CallEnd) and moment.call is not None:
                frames += self._tell_before_result(questions, moment, watched)
            self.position = moment.after
            frame = self._frame(moment, watched)
            if frame is not None:
                frames.append(frame)
        for question in questions:
            is_news = question.is_waiting or (question.verdict is not None and question.ticket.seq in self._reported)
            if is_news and was_noticed(question.iteration, question.call, self.position, watched):
                frames += self._tell(question, watched)
        frames += self._tell_progress(watched)
        self._live = watched.live or self._live
        return frames

    def _tell_progress(self, watched: WatchedAnswer) -> list[Frame]:
        """Return the frames of what hosts have reported since of calls under way."""
        reports = {report.ticket.seq: report for report in list_reported(watched, self.position)}
        news = [report for seq, report in reports.items() if self._progress_of.get(seq) != report.progress]
        self._progress_of = {seq: report.progress for seq, report in reports.items()}
        return [Frame("", *self.project_report(report, watched)) for report in news]

    def _tell_before_result(self, questions: Sequence[AskedCall], end: CallEnd, watched: WatchedAnswer) -> list[Frame]:
        """Return what is to be told of a call, and of those it asked for, before its result: the last one is told last."""
        related = [call for call in questions if (call.iteration, call.call) == (end.iteration, end.call)]
        if len(related) > 1:
            self._reported.pop(related[-1].ticket.seq, None)
        return [frame for call in related for frame in self._tell(call, watched)]

    def _tell(self, question: AskedCall, watched: WatchedAnswer) -> list[Frame]:
        """Return the frames of what the watcher was not told yet of a call that a person is asked about."""
        ticket = question.ticket
        before, now = self._reported.get(ticket.seq), (ticket.approval, question.verdict)
        self._reported[ticket.seq] = now
        events = []
        is_new = before is None or before[0] != ticket.approval
        if is_new and (question.verdict is None or self.asks_first):
            events.append(self.project_question(question, watched))
        if question.verdict is not None and before != now:
            events.append(self.project_verdict(question, watched))
        return [Frame("", *event) for event in events if event is not None]

    def _frame(self, moment: Moment, watched: WatchedAnswer) -> Frame | None:
        content = self.project(moment, watched)
        return None if content is None else Frame(str(moment.after), *content)

    @abstractmethod
    def project_question(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the type and the data of the frame that tells that a call waits for a person, None for none."""

    @abstractmethod
    def project_verdict(self, question: AskedCall, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the same of the frame that tells what came of it."""

    @abstractmethod
    def project_report(self, report: ReportedCall, watched: WatchedAnswer) -> tuple[str, str]:
        """Return the same of the frame that tells how far a call under way is."""

    @abstractmethod
    def project(self, moment: Moment, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the type and the data of the frame of a moment, None where the format has none for it."""


def describe_usage(watched: WatchedAnswer) -> dict[str, Any]:
    """Return the tokens of all turns, as the messages of the formats count them: the cache's are part of the input."""
    usage = watched.execution.usage
    whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "inputTokens": whole,
        "outputTokens": usage.output_tokens,
        "totalTokens": whole + usage.output_tokens,
        "cachedInputTokens": usage.cache_read_tokens,
        "cacheWriteInputTokens": usage.cache_write_tokens,
    }
