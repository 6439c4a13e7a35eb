"""The UI message stream of Vercel's AI SDK: how an answer ends."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.serving.streams.vercel import DONE, VercelProjection
from tests.builders import START, build_execution


def end(status: Status, **fields: Any) -> list[dict[str, Any]]:
    """Return the last frames of an answer that has ended so, behind its start."""
    execution = build_execution(status=status, started_at=START, completed_at=START, **fields)
    *_, done = frames = VercelProjection().render(WatchedAnswer(execution=execution))
    assert done.data == DONE
    return [json.loads(frame.data) for frame in frames[1:-1]]


def test_an_answer_that_was_stopped_is_aborted_and_no_error() -> None:
    assert end(Status.KILLED, error="cancelled by the operator") == [{"type": "abort", "reason": "cancelled by the operator"}]


def test_an_answer_that_failed_says_why_and_ends() -> None:
    error, finish = end(Status.FAILED, error="no credits are left")
    assert error == {"type": "error", "errorText": "no credits are left"}
    assert (finish["type"], finish["finishReason"]) == ("finish", "error")
