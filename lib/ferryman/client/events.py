"""Live events: the parser of a text/event-stream, and how a stream that broke is resumed where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.client.errors import ApiRefusedError, ApiUnreachableError
from ferryman.client.request import ApiRequest, build_path, read_none

SILENCE_S = 45.0
"""The service sends a comment every 15 s; a connection that is silent for three times as long is dead."""

RESUMES_MAX = 20
"""How many times in a row a broken stream of events is resumed without a new event."""

RESUME_AFTER_S = 1.0
PROGRESS = "progress"
UNNUMBERED = (PROGRESS, "call_progress", "waiting", "decided")
"""The kinds of events that have no number."""

_PASSING = (429, 503)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedEvent:
    """One live event: `kind` is started, turn, tool_call, tool_result or finished; progress, call_progress, waiting and
    decided have no number."""

    number: int | None
    kind: str
    body: Mapping[str, Any] = field(repr=False)


class FrameParser:
    """The parser of the frames of one stream; comments and incomplete blocks are skipped."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def feed(self, line: str) -> Mapping[str, str] | None:
        """Return the fields of the frame that `line` completes, if it does."""
        fields = self._fields
        if not line:
            self._fields = {}
            return fields
        if not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" and "data" in fields else value
        return None


class EventParser:
    """The parser of one stream of an execution's events; what is none of them is skipped."""

    def __init__(self) -> None:
        self._frames = FrameParser()

    def feed(self, line: str) -> StreamedEvent | None:
        """Return the event that `line` completes, if it does."""
        fields = self._frames.feed(line) or {}
        number = int(fields["id"]) if fields.get("id", "").isdigit() else None
        if {"event", "data"} <= fields.keys() and (number is not None or fields["event"] in UNNUMBERED):
            return StreamedEvent(number=number, kind=fields["event"], body=json.loads(fields["data"]))
        return None


class Resumption:
    """When a stream that broke is asked for again, and when it is given up. `about` names it in the error."""

    def __init__(self, about: str) -> None:
        self._about = about
        self._fruitless = 0

    def note_event(self) -> None:
        """Note that something came: the count starts again."""
        self._fruitless = 0

    def resume(self, error: Exception | None) -> float:
        """Return after how many seconds to connect again, when a connection ended in `error`. Raise it where it does not pass,
        and `ApiUnreachableError` after too many connections without an event."""
        pause_s = 0.0
        if isinstance(error, ApiRefusedError):
            if error.status not in _PASSING:
                raise error
            # it passes: a stream that broke may count among the open ones for a moment
            pause_s = error.after_s
        self._fruitless += 1
        if self._fruitless > RESUMES_MAX:
            raise ApiUnreachableError(f"the events of {self._about} broke off and could not be resumed") from error
        return pause_s + (RESUME_AFTER_S if self._fruitless > 1 else 0.0)


class EventStream(Resumption):
    """The events of one execution from `after` on, over as many connections as it takes.

    `is_over` is set by a connection that is answered with no events at all: there are no further ones.
    """

    def __init__(self, execution: str, after: int) -> None:
        super().__init__(execution)
        self.after = after
        self.is_over = False
        self._execution = execution

    def describe_request(self) -> ApiRequest[None]:
        """Return the request of the next connection: it goes on after the last event that was received."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(self.after)} if self.after else {})}
        path = build_path("executions", self._execution, "events")
        return ApiRequest(method="GET", path=path, read=read_none, headers=headers)

    def receive(self, event: StreamedEvent) -> bool:
        """Note that `event` was received; return whether it is the last."""
        if event.number is not None:
            self.after = event.number
            self.note_event()
        return event.kind == "finished"
