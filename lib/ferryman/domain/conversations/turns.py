"""Turns of an answer, as its message keeps them: what the model wrote, and the results as it read them, frame included.

All else is made of that: what people are shown (`rendering`), and what the model reads of an answer in later ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.message import AnswerState, Attachment, Message, Speaker
from ferryman.domain.executions.execution import Step
from ferryman.domain.executions.message import Block, build_tool_result, join_text
from ferryman.domain.executions.message import Message as ModelMessage

Turn = Mapping[str, Any]
"""{"text", "calls": [{"id", "name", "arguments"}], "results": [{"call", "seq", "name", "ok", "content", "parts"}]}, as JSON."""

TURNS_CHARACTERS_MAX = 500_000
"""Of all results of an answer: its message is one document. What is more is told by a reference."""

ANY_TYPE = "application/octet-stream"
ATTACHED = "\n\n[Files of the workspace that come with this message; file_read reads them]\n"
"""Comes before the rows of a message's attachments: what follows it, no person wrote."""

_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)

UNANSWERED = {
    AnswerState.COMPLETE: "[no answer]",
    AnswerState.STOPPED: "[no answer: it was stopped]",
    AnswerState.FAILED: "[no answer: it failed]",
}
"""What a later prompt has in the place of an answer without words: speakers take turns there."""


def write_turn(step: Step, tickets: Iterable[Ticket]) -> Turn:
    """Return a turn with its settled calls, in call order; calls that others asked for are a part of those."""
    calls = sorted((ticket for ticket in tickets if ticket.parent is None), key=lambda ticket: ticket.seq)
    return {
        "text": join_text(step.content),
        "calls": [
            {"id": call.call, "name": call.called_as or call.tool, "arguments": dict(call.display_arguments)} for call in calls
        ],
        "results": [_write_result(call, call.result) for call in calls if call.result is not None],
    }


def read_result(result: Mapping[str, Any]) -> ToolCallResult:
    """Return a result of a turn as its call had it."""
    parts = (Part(kind=PartKind(kind), start=start, end=end) for kind, start, end in result["parts"])
    return ToolCallResult(tool=result["name"], content=result["content"], ok=result["ok"], parts=tuple(parts))


def fit_turns(turns: Sequence[Turn], *, execution: str, most: int = TURNS_CHARACTERS_MAX) -> tuple[Turn, ...]:
    """Return the turns with references in the place of the oldest results, as many as it takes for the others to fit."""
    sizes = [len(result["content"]) for turn in turns for result in turn["results"]]
    too_many = sum(sizes) - most
    fitted = []
    for turn in turns:
        results = []
        for result in turn["results"]:
            if too_many > 0:
                too_many -= len(result["content"])
                text = f"[{len(result['content']):,} characters of {result['name']}: see the record of execution {execution}]"
                result = {**result, "content": text, "parts": [(PartKind.TEXT.value, 0, len(text))]}
            results.append(result)
        fitted.append({**turn, "results": results})
    return tuple(fitted)


def build_history(branch: Sequence[Message]) -> list[ModelMessage]:
    """Return a branch as the messages that the model reads before a new question.

    The branch ends with an answer. Two questions with none between them, of which an answer was deleted, do not occur.
    """
    messages: list[ModelMessage] = []
    for message in branch:
        if message.role is Speaker.USER:
            messages.append({"role": "user", "content": write_question(message.content, message.attachments)})
            continue
        for turn in message.parts:
            if turn["calls"]:
                messages += _write_for_model(turn)
        messages.append({"role": "assistant", "content": message.content or UNANSWERED[message.state]})
    return messages


def write_question(content: str, attachments: Sequence[Attachment]) -> str:
    """Return a person's message as the model reads it: its attachments are named behind it, and read with `file_read`.

    Nothing there is a URL, which would count as written by a person: a model may have named the file, and its type.
    """
    if not attachments:
        return content
    rows = [
        {"key": file.key, "type": _name_type(file.media_type), "bytes": file.size_bytes, "version": file.etag}
        for file in attachments
    ]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"{content}{ATTACHED}{lines}"


def cut_attachments(text: str) -> str:
    """Return what a person wrote of a message: all but the names of its files, which anybody may choose."""
    return text.partition(ATTACHED)[0]


def _name_type(content_type: str) -> str:
    """Return a content type without its parameters; that of any bytes where it is none."""
    name = content_type.partition(";")[0].strip()
    return name if _MEDIA_TYPE.fullmatch(name) else ANY_TYPE


def write_plainly(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return messages with their calls and results as texts: a provider takes no blocks of calls in a prompt without tools."""
    return [
        message
        if isinstance(message["content"], str)
        else {**message, "content": "\n\n".join(map(_write_block, message["content"]))}
        for message in messages
    ]


def _write_block(block: Block) -> str:
    if block["type"] == "tool_use":
        return f"[Call of {block['name']}: {json.dumps(block['input'], ensure_ascii=False)}]"
    return str(block["text"] if block["type"] == "text" else block["content"])


def _write_for_model(turn: Turn) -> list[ModelMessage]:
    written: list[Block] = [{"type": "text", "text": turn["text"]}] if turn["text"] else []
    uses = [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]} for call in turn["calls"]]
    by_call = {result["call"]: result for result in turn["results"]}
    results = [
        build_tool_result(call["id"], by_call[call["id"]]["content"], is_error=not by_call[call["id"]]["ok"])
        if call["id"] in by_call
        else build_tool_result(call["id"], "[no result: the answer ended before]", is_error=True)
        for call in turn["calls"]
    ]
    return [{"role": "assistant", "content": [*written, *uses]}, {"role": "user", "content": results}]


def _write_result(call: Ticket, result: ToolCallResult) -> dict[str, Any]:
    parts = [(part.kind.value, part.start, part.end) for part in result.parts]
    return {"call": call.call, "seq": call.seq, "name": result.tool, "ok": result.ok, "content": result.content, "parts": parts}
