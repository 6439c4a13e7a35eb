"""Answers as they are written: the events of one, over as many connections as it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman.client.events import FrameParser, Resumption
from ferryman.client.request import ApiRequest, build_path, read_none

MEDIA_TYPE = "text/event-stream"
ENDS = ("done", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEvent:
    """An event of an answer. `id` is the place behind it in the stream, "" for what is of the moment.

    `kind` is start, thinking, content, tool_call_delta, tool_call, tool_result, tool_progress, usage, replace (what came of
    this turn is void), approval_required, approval_decided, done or error; others may be added. `body` has what belongs to it.
    """

    id: str
    kind: str
    body: Mapping[str, Any] = field(repr=False)


class AnswerParser:
    """The parser of one stream of an answer; what is no event of one is skipped."""

    def __init__(self) -> None:
        self._frames = FrameParser()

    def feed(self, line: str) -> AnswerEvent | None:
        """Return the event that `line` completes, if it does."""
        fields = self._frames.feed(line) or {}
        if "data" not in fields or fields.get("event", "message") != "message":
            return None
        body = json.loads(fields["data"])
        if not isinstance(body, dict) or not isinstance(body.get("type"), str):
            return None
        return AnswerEvent(id=fields.get("id", ""), kind=body["type"], body=body)


class AnswerStream(Resumption):
    """The events of one answer: of a `question`, the request that asks it, or of a message that is there.

    A connection that breaks before the answer is known is asked for again by the question itself, whose idempotency key has it
    stored once; any later one by the place behind the last event. `is_over` is set where nothing follows.
    """

    def __init__(self, question: ApiRequest[Any] | None = None, *, conversation: str = "", answer: int | None = None) -> None:
        super().__init__(f"the answer in {conversation}" if conversation else "the answer")
        self.conversation = conversation
        self.answer = answer
        self.is_over = False
        self._question = question
        self._after = ""

    def describe_request(self) -> ApiRequest[Any]:
        """Return the request of the next connection."""
        question = self._question
        if question is not None and self.answer is None:
            headers = {**question.headers, "Accept": MEDIA_TYPE}
            return replace(question, body={**(question.body or {}), "stream": True}, headers=headers)
        headers = {"Accept": MEDIA_TYPE, **({"Last-Event-ID": self._after} if self._after else {})}
        query = {} if self.answer is None else {"answer": str(self.answer)}
        path = build_path("conversations", self.conversation, "events")
        return ApiRequest(method="GET", path=path, read=read_none, headers=headers, query=query)

    def read_document(self, document: Mapping[str, Any]) -> None:
        """Note what is answered in the place of a stream, where too many are open: which answer it is."""
        self.conversation = str(document["conversationId"])
        self.answer = int(document["assistantMessage"]["number"])

    def receive(self, event: AnswerEvent) -> bool:
        """Note that `event` was received; return whether it is the last."""
        self.note_event()
        self._after = event.id or self._after
        if event.kind == "start" and "messageId" in event.body:
            self.conversation, self.answer = str(event.body["conversationId"]), int(event.body["messageId"])
        return event.kind in ENDS
