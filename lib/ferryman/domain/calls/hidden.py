"""Hidden results (dual LLM pattern): the model reads that there is one, and hands it on by a reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult, describe_parts
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.calls.suggestion import FUNCTION_FAILED, SUGGESTIONS
from ferryman.domain.copies import replace
from ferryman.domain.json_tree import is_too_deep

DEPTH_MAX = 50
"""How deep the values of a JSON text are nested at most; one that is deeper is handed on as a text."""

SHAPE_CHARACTERS_MAX = 2_000
"""How much of the shape of a value the model is told."""


def read_value(result: ToolCallResult) -> Any:
    """Return what a result hands on: the JSON value of its one part of JSON, or its texts without their frames."""
    parts = [part for part in describe_parts(result).parts if part.kind is not PartKind.FILE]
    documents = [part for part in parts if part.kind is PartKind.JSON]
    if len(documents) == 1:
        part = documents[0]
        try:
            value = json.loads(result.content[part.start : part.end])
        except (ValueError, RecursionError):
            return result.content[part.start : part.end]
        return result.content[part.start : part.end] if is_too_deep(value, DEPTH_MAX) else value
    return "\n".join(result.content[part.start : part.end] for part in parts)


def show_ticket(ticket: Ticket) -> Ticket:
    """Return a settled call as the model reads it: of a hidden value, how to refer to it, and its shape."""
    if not ticket.hidden or ticket.result is None or not ticket.result.ok:
        return ticket  # why it failed is a text of ours
    shape = json.dumps(describe_shape(read_value(ticket.result)), ensure_ascii=False)
    use = ticket.result.model_use
    cut = (
        f" Only the first {use.read:,} of {use.characters:,} characters were read." if use and use.read < use.characters else ""
    )
    text = f"The value is not shown.{cut} {_explain_reference(ticket.seq)} Its shape: {shape[:SHAPE_CHARACTERS_MAX]}"
    result = replace(ticket.result, content=text, parts=(), response_size_bytes=None)
    return replace(ticket, result=describe_parts(result))


def describe_shape(value: Any) -> Any:
    """Return a JSON value with the names of the types in the place of its leaves, and of a list the count of its items."""
    if isinstance(value, Mapping):
        return {name: describe_shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [describe_shape(value[0]), f"{len(value)} of these"] if value else []
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "number" if isinstance(value, int | float) else "string"


def show_passed(ticket: Ticket, passed: Ticket, *, show: bool) -> ToolCallResult:
    """Return the result of the call `ticket` that had `passed` made: all of that one's with `show`, else how it went alone."""
    result = passed.result
    assert result is not None, "a call is answered once those that it asked for have settled"
    if show:
        return _copy_result(ticket, passed, result)
    if result.ok:
        size = len(str_value) if isinstance(str_value := read_value(result), str) else len(json.dumps(str_value))
        edited = " A person changed its arguments before it was made." if result.block_reason == refusal.EDITED else ""
        text = f"Call {passed.seq} ({passed.tool}) succeeded.{edited} Its result has {size:,} characters and is not shown."
        return ToolCallResult(ticket.tool, f"{text} {_explain_reference(passed.seq)}")
    code = result.code if result.code is not None and result.code in SUGGESTIONS else FUNCTION_FAILED
    if result.block_reason in (refusal.DENIED, refusal.EXPIRED):
        text = result.content  # a person's own words
    else:
        text = f"{ERROR}call {passed.seq} ({passed.tool}) failed: {code}"
    return ToolCallResult(ticket.tool, text, ok=False, code=code, suggestion=SUGGESTIONS[code])


def _copy_result(ticket: Ticket, passed: Ticket, result: ToolCallResult) -> ToolCallResult:
    line = f"Call {passed.seq} ({passed.tool}):\n"
    described = describe_parts(result)
    parts = [replace(part, start=part.start + len(line), end=part.end + len(line)) for part in described.parts]
    return ToolCallResult(
        ticket.tool,
        line + result.content,
        response_status=result.response_status,
        ok=result.ok,
        code=result.code,
        suggestion=result.suggestion,
        parts=(Part(kind=PartKind.TEXT, start=0, end=len(line)), *parts),
    )


def _explain_reference(call: int) -> str:
    return f'Refer to it by {{"$from": {{"call": {call}}}}}, or to a part of it by a path besides.'
