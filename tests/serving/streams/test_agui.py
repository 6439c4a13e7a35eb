"""AG-UI: what its own client sends when it comes back names no position, and it still has a part of the run."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.conversations.message import AnswerState, Message, Speaker
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.serving.streams.agui import AguiProjection
from ferryman.serving.streams.agui_messages import list_history
from tests.builders import START, build_execution, build_settled_ticket, build_step
from tests.campaigns.streams.clients import AguiClient
from tests.campaigns.streams.cutting import begin, read, stream
from tests.campaigns.streams.runs import generate_run


@settings(max_examples=60, derandomize=True)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_a_client_that_comes_back_with_a_part_of_the_run_has_nothing_twice(seed: int, data: st.DataObject):
    states = generate_run(seed)
    batches = begin("ag-ui", states)
    number = data.draw(st.integers(0, len(states) - 1))
    client = AguiClient()
    for frame in (frame for batch in batches[:number] for frame in batch):
        client.read(frame)
    later = AguiClient(client.messages)
    for frame in (frame for batch in stream("ag-ui", states[number:]) for frame in batch):
        later.read(frame)
    whole: Any = read("ag-ui", [frame for batch in batches for frame in batch])
    question = {"id": "conv_1.1"}
    assert [message for message in later.summarize()[0] if message["id"] != question["id"]] == whole[0][1:]


def test_a_stored_answer_is_a_message_for_each_turn():
    turn = {
        "text": "",
        "calls": [{"id": "tc_1", "name": "web_fetch", "arguments": {"url": "https://a.test/"}}],
        "results": [{"call": "tc_1", "name": "web_fetch", "ok": True, "content": "body", "parts": []}],
    }
    about = {"conversation": "conv_1", "at": START}
    question = Message(**about, number=1, parent=0, role=Speaker.USER, content="What is there?")
    answer = Message(
        **about,
        number=2,
        parent=1,
        role=Speaker.ASSISTANT,
        content="A body.",
        parts=(turn,),
        execution="exec_1",
        state=AnswerState.COMPLETE,
    )
    function = {"name": "web_fetch", "arguments": '{"url": "https://a.test/"}'}
    assert list_history([question, answer]) == [
        {"id": "conv_1.1", "role": "user", "content": "What is there?"},
        {"id": "exec_1.1", "role": "assistant", "toolCalls": [{"id": "exec_1.1.0", "type": "function", "function": function}]},
        {"id": "exec_1.1.0.result", "role": "tool", "toolCallId": "exec_1.1.0", "content": '"body"'},
        {"id": "exec_1.2", "role": "assistant", "content": "A body."},
    ]


def test_a_snapshot_has_the_turns_that_are_committed_and_not_the_one_under_way():
    running = build_execution(status=Status.RUNNING, started_at=START)
    use = {"type": "tool_use", "id": "tc_1", "name": "http_get", "input": {}}
    step = build_step(content=({"type": "text", "text": "Let me look."}, use), stop_reason="tool_use", calls=1)
    live = LiveTurn(event=5, blocks=(LiveBlock("It"),))
    watched = WatchedAnswer(execution=running, steps=[step], tickets={0: build_settled_ticket()}, live=live)
    _, snapshot, *rest = (json.loads(frame.data) for frame in AguiProjection().render(watched))
    assert [message["role"] for message in snapshot["messages"]] == ["assistant", "tool"]
    assert [event["type"] for event in rest] == ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]
