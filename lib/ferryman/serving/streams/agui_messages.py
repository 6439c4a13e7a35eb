"""Messages of AG-UI: those of an answer under way, and those of a conversation before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ferryman.domain.calls.sub_calls import walk_calls
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.conversations.rendering import render_result
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Step
from ferryman.serving.streams.blocks import read_blocks
from ferryman.serving.streams.names import write_call_id, write_message_id
from ferryman.serving.streams.results import read_outcome

AguiMessage = dict[str, Any]


def list_answer(watched: WatchedAnswer, last: int) -> list[AguiMessage]:
    """Return the messages of the turns and results of an answer up to event `last`."""
    steps = (step for step in watched.steps if step.event <= last)
    return [message for step in steps for message in _list_turn(watched, step, last)]


def list_history(branch: Sequence[Message]) -> list[AguiMessage]:
    """Return a branch of a conversation; an answer is a message for each turn, as when it was streamed."""
    messages: list[AguiMessage] = []
    for message in branch:
        if message.role is Speaker.USER:
            named = f"{message.conversation}.{message.number}"
            messages.append({"id": named, "role": "user", "content": message.content})
            continue
        iteration = 0
        for iteration, turn in enumerate(message.parts, start=1):
            messages += _list_stored(message.execution, iteration, turn)
        if message.content:
            named = write_message_id(message.execution, iteration + 1)
            messages.append({"id": named, "role": "assistant", "content": message.content})
    return messages


def build_result(execution: str, iteration: int, call: int, content: str) -> AguiMessage:
    """Return what a call has answered; the event of it has the same members."""
    name = write_call_id(execution, iteration, call)
    return {"messageId": f"{name}.result", "toolCallId": name, "content": content, "role": "tool"}


def _list_turn(watched: WatchedAnswer, step: Step, last: int) -> Iterator[AguiMessage]:
    execution, blocks = watched.execution.id, read_blocks(step, None, None)
    if blocks:
        calls = [(block.name, block.text) for block in blocks if block.call]
        yield _build_turn(execution, step.number, "\n".join(block.text for block in blocks if not block.call), calls)
    call = -1
    tickets = [ticket for ticket in watched.tickets.values() if ticket.step == step.number]
    for number, (ticket, ends) in enumerate(walk_calls(tickets), step.event + 1):
        if ends and ticket.parent is None:
            call += 1
            if number <= last:
                yield _to_message(build_result(execution, step.number, call, read_outcome(ticket).content))


def _list_stored(execution: str, iteration: int, turn: Any) -> Iterator[AguiMessage]:
    calls = [(call["name"], json.dumps(call["arguments"], ensure_ascii=False)) for call in turn["calls"]]
    yield _build_turn(execution, iteration, turn["text"], calls)
    for call, result in enumerate(turn["results"]):  # a call without one is behind those that have one
        yield _to_message(build_result(execution, iteration, call, render_result(result)["content"]))


def _build_turn(execution: str, iteration: int, text: str, calls: Sequence[tuple[str, str]]) -> AguiMessage:
    message: AguiMessage = {"id": write_message_id(execution, iteration), "role": "assistant"}
    if text:
        message["content"] = text
    if calls:
        message["toolCalls"] = [
            {
                "id": write_call_id(execution, iteration, number),
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
    return message


def _to_message(result: AguiMessage) -> AguiMessage:
    return {"id": result["messageId"], **{key: value for key, value in result.items() if key != "messageId"}}
