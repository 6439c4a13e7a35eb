"""Answers as they are written, over real sockets: asked for once, and gone on with where a stream broke."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.client import ApiRefusedError
from ferryman.client.answer_events import AnswerStream
from ferryman.client.routes import conversations

from .served import Served, answer_json, kind, served

__all__ = ["kind", "served"]
START = {"type": "start", "conversationId": "conv_1", "messageId": 4, "executionId": "exec_1"}
HELLO = ({"type": "thinking", "iteration": 1}, {"type": "content", "content": "Hello"})
DONE = {"type": "done", "state": "complete", "content": "Hello"}


def stream(*frames: tuple[str, dict[str, Any]], breaks_off: bool = False) -> bytes:
    """Return a stream of frames with these ids; one that breaks off ends within a frame."""
    blocks = "".join(f"id: {name}\nevent: message\ndata: {json.dumps(body)}\n\n" for name, body in frames)
    length = "content-length: 100000" if breaks_off else "connection: close"
    tail = "id: 9\nevent: mess" if breaks_off else ""
    return f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{length}\r\n\r\n: hi\n\n{blocks}{tail}".encode()


async def test_a_message_is_sent_and_its_answer_streams(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request)
        return stream(("1", START), ("1-0-5-a", HELLO[1]), ("3", DONE))

    client = await served(answer)
    events = [event async for event in client.stream_message("conv_1", "Hi", model="m")]
    assert [event.kind for event in events] == ["start", "content", "done"]
    assert received[0].startswith("POST /v1/conversations/conv_1/messages ")


def test_a_question_is_sent_as_one_whose_answer_streams() -> None:
    request = AnswerStream(conversations.create_message("conv_1", "Hi", model="m")).describe_request()
    assert (request.body, request.headers["Accept"]) == ({"content": "Hi", "model": "m", "stream": True}, "text/event-stream")


async def test_a_stream_that_broke_goes_on_behind_the_last_whole_event(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request.lower())
        if len(received) == 1:
            return stream(("1", START), ("1-0-5-a", HELLO[1]), breaks_off=True)
        return stream(("3", DONE))

    client = await served(answer)
    assert [event.kind async for event in client.stream_message("conv_1", "Hi")] == ["start", "content", "done"]
    assert received[1].startswith("get /v1/conversations/conv_1/events?answer=4 ")
    assert "last-event-id: 1-0-5-a\r\n" in received[1]


async def test_a_question_whose_answer_is_not_known_yet_is_asked_again_under_its_key(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request.lower())
        return stream(breaks_off=True) if len(received) == 1 else stream(("1", START), ("3", DONE))

    client = await served(answer)
    assert [event.kind async for event in client.stream_message("conv_1", "Hi", key="one")] == ["start", "done"]
    assert [request.count('idempotency-key: "one"') for request in received] == [1, 1]


async def test_an_answer_in_the_place_of_a_stream_says_which_events_to_read(served: Served) -> None:
    received: list[str] = []

    def answer(request: str) -> bytes:
        received.append(request.lower())
        if len(received) == 1:
            document = {"conversationId": "conv_1", "assistantMessage": {"number": 6}}
            return answer_json(document, "202 Accepted")
        return stream(("1", {**START, "messageId": 6}), ("3", DONE))

    client = await served(answer)
    assert [event.kind async for event in client.stream_message("conv_1", "Hi")] == ["start", "done"]
    assert received[1].startswith("get /v1/conversations/conv_1/events?answer=6 ")


async def test_a_refused_message_is_an_error(served: Served) -> None:
    client = await served(lambda _: answer_json({"detail": "there is no such conversation"}, "404 Not Found"))
    with pytest.raises(ApiRefusedError, match="no such conversation"):
        [event async for event in client.stream_message("conv_1", "Hi")]


async def test_what_is_no_event_of_an_answer_is_passed_over(served: Served) -> None:
    other = b"event: ping\ndata: {}\n\nevent: message\ndata: []\n\n"
    whole = stream(("1", START), ("3", DONE)).replace(b": hi\n\n", b": hi\n\n" + other)
    client = await served(lambda _: whole)
    assert [event.kind async for event in client.stream_answer("conv_1", 4)] == ["start", "done"]


async def test_nothing_is_waited_for_where_there_is_no_answer(served: Served) -> None:
    client = await served(lambda _: b"HTTP/1.1 204 No Content\r\n\r\n")
    assert [event async for event in client.stream_answer("conv_1")] == []
