"""The format of chats: what each moment looks like to who reads it (S3-29 … S3-34)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.usage import Usage
from ferryman.serving.streams.message import MessageProjection
from tests.builders import START, build_execution, build_step, build_ticket

QUERY = {"query": "React"}
USE = {"type": "tool_use", "id": "tc_abc123", "name": "search_knowledge", "input": QUERY}
RUNNING = build_execution(conversation="conv_1", answer=2, question=1, status=Status.RUNNING, started_at=START)
STEP = build_step(content=(USE,), stop_reason="tool_use", calls=1)
ANSWER = build_step(number=2, content=({"type": "text", "text": "This one."},), event=5)
TICKET = build_ticket(call="tc_abc123", tool="search_knowledge", display_arguments=QUERY)


def settle(content: str, *, ok: bool = True, kind: PartKind = PartKind.JSON) -> WatchedAnswer:
    """Return an answer whose one call has this result."""
    parts = (Part(kind=kind, start=0, end=len(content)),)
    result = ToolCallResult("search_knowledge", content, ok=ok, parts=parts)
    settled = replace(TICKET, state=TicketState.SETTLED, settled_at=START, result=result)
    return WatchedAnswer(execution=RUNNING, steps=[STEP], tickets={0: settled})


SETTLED = settle(json.dumps({"results": [1, 2, 3, 4, 5]}))


def render(*states: WatchedAnswer) -> list[dict[str, Any]]:
    projection = MessageProjection()
    return [json.loads(frame.data) for state in states for frame in projection.render(state)]


def find(kind: str, *states: WatchedAnswer) -> list[dict[str, Any]]:
    return [body for body in render(*states) if body["type"] == kind]


def test_every_event_is_of_the_type_message() -> None:
    assert {frame.event for frame in MessageProjection().render(SETTLED)} == {"message"}


def test_a_call_has_its_id_name_and_arguments() -> None:
    call = {"type": "tool_call", "id": "tc_abc123", "name": "search_knowledge", "arguments": QUERY}
    assert find("tool_call", SETTLED) == [call]


def test_a_result_has_its_value_and_a_preview() -> None:
    (result,) = find("tool_result", SETTLED)
    about = {"type": "tool_result", "toolCallId": "tc_abc123", "name": "search_knowledge", "success": True}
    assert result == {**about, "result": {"results": [1, 2, 3, 4, 5]}, "resultPreview": "Found 5 results"}


def test_a_failure_is_a_result_without_success_and_with_an_error() -> None:
    (result,) = find("tool_result", settle("Search failed", ok=False, kind=PartKind.TEXT))
    about = {"type": "tool_result", "toolCallId": "tc_abc123", "name": "search_knowledge", "success": False}
    assert result == {**about, "error": "Search failed"}


def test_a_call_without_a_result_has_failed_once_the_answer_has_ended() -> None:
    stopped = replace(RUNNING, status=Status.KILLED, completed_at=START)
    (result,) = find("tool_result", WatchedAnswer(execution=stopped, steps=[STEP], tickets={0: TICKET}))
    assert (result["success"], result["error"]) == (False, "the answer ended before the result came")


def test_thinking_comes_before_each_question_to_the_model() -> None:
    kinds = [body["type"] for body in render(WatchedAnswer(execution=RUNNING), replace(SETTLED, steps=[STEP, ANSWER]))]
    assert kinds == ["start", "thinking", "usage", "tool_call", "tool_result", "thinking", "content", "usage"]


def test_a_text_comes_as_it_is_written() -> None:
    states = [WatchedAnswer(execution=RUNNING, live=LiveTurn(event=2, blocks=(LiveBlock(text),))) for text in ("He", "Hello")]
    assert [body["content"] for body in find("content", *states)] == ["He", "llo"]


def test_the_arguments_of_a_call_come_as_they_are_written() -> None:
    block = LiveBlock('{"query', "tc_1", "search_knowledge")
    live = [LiveTurn(event=2, blocks=(replace(block, text=text),)) for text in ('{"query', '{"query": 1}')]
    deltas = find("tool_call_delta", *(WatchedAnswer(execution=RUNNING, live=turn) for turn in live))
    assert [body["arguments"] for body in deltas] == ["", '{"query', '": 1}']


def test_a_text_that_is_replaced_is_void_and_comes_again() -> None:
    before = WatchedAnswer(execution=RUNNING, live=LiveTurn(event=2, blocks=(LiveBlock("The key is k"),)))
    scanned = build_step(content=({"type": "text", "text": "The [redacted]"},))
    kinds = render(before, WatchedAnswer(execution=RUNNING, steps=[scanned]))[3:5]
    assert kinds == [
        {"type": "replace", "iteration": 1},
        {"type": "content", "iteration": 1, "content": "The [redacted]"},
    ]


def test_an_answer_that_is_waited_for_has_its_number() -> None:
    queued = WatchedAnswer(execution=replace(RUNNING, status=Status.QUEUED, started_at=None))
    assert render(queued) == [{"type": "start", "executionId": "e", "conversationId": "conv_1", "messageId": 2}]


def test_an_answer_that_failed_ends_with_its_error() -> None:
    failed = replace(RUNNING, status=Status.FAILED, completed_at=START, error="the model refused the task")
    assert render(WatchedAnswer(execution=failed))[-1]["error"] == "the model refused the task"


def test_an_answer_that_was_stopped_says_so() -> None:
    stopped = replace(RUNNING, status=Status.KILLED, completed_at=START, output="This o", error="cancelled")
    assert find("done", WatchedAnswer(execution=stopped))[0]["state"] == "stopped"


def test_the_error_of_a_failure_in_json_is_its_sentence() -> None:
    (result,) = find("tool_result", settle('{"error": "no such page", "code": 404}', ok=False))
    assert result["error"] == "no such page"


def test_the_tokens_of_the_cache_are_a_part_of_the_input() -> None:
    usage = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=4, cache_write_tokens=8)
    ended = replace(RUNNING, status=Status.COMPLETED, completed_at=START, usage=usage)
    states = WatchedAnswer(execution=ended, steps=[build_step(usage=usage)])
    (turn,), (done,) = find("usage", states), find("done", states)
    assert (turn["inputTokens"], turn["cachedInputTokens"]) == (13, 4)
    assert done["usage"] == {
        **{"inputTokens": 13, "outputTokens": 2, "totalTokens": 15},
        **{"cachedInputTokens": 4, "cacheWriteInputTokens": 8},
    }


def test_arguments_stay_as_the_model_spelled_them_where_the_turn_under_way_is_no_longer_known() -> None:
    live = LiveTurn(event=2, blocks=(LiveBlock('{ "query":  "React" }', "tc_abc123", "search_knowledge"),))
    states = [
        WatchedAnswer(execution=RUNNING, live=live),
        WatchedAnswer(execution=RUNNING),
        WatchedAnswer(execution=RUNNING, steps=[STEP], tickets={0: TICKET}),
    ]
    assert find("replace", *states) == []
