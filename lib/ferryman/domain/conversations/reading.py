"""Results as the model of a chat reads them: images as placeholders, then cut to so many characters (S3-63, S3-64, S3-69)."""

from __future__ import annotations

import json
from collections.abc import Collection

from ferryman.domain.calls.call import TRUNCATED, Ticket, ToolCallResult
from ferryman.domain.calls.hidden import show_ticket
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.images import replace_images
from ferryman.domain.copies import replace
from ferryman.domain.executions.surface import Surface, SurfaceKind

_BODIES = (PartKind.TEXT, PartKind.JSON)
_WHOLE, _CUT = 'truncated="false"', 'truncated="true"'


def fit_ticket(ticket: Ticket, surface: Surface, *, finders: Collection[str], answer: int = 0) -> Ticket:
    """Return a settled call with its result as the model of `surface` reads it; of tools that find others, as it is.

    Of a result that is hidden from the model, only how to refer to it.

    `answer` is the number of the message that the call is made for, where the model can read its results again by that; 0 else.
    """
    ticket = show_ticket(ticket)
    if ticket.result is None or surface.kind is SurfaceKind.TASK or ticket.tool in finders:
        return ticket
    fitted = fit_result(ticket.result, most=surface.result_characters_max)
    if fitted is ticket.result:
        return ticket
    if answer and _count(fitted) < _count(ticket.result):
        how = json.dumps({"message": answer, "call": ticket.seq, "offset": surface.result_characters_max})
        fitted = replace(fitted, content=f"{fitted.content}\nTo read on: read_result {how}")
    return replace(ticket, result=fitted)


def fit_result(result: ToolCallResult, *, most: int) -> ToolCallResult:
    """Return a result without images, of which the bodies together have at most `most` characters; itself where it fits.

    A body that was cut is a text, and its frame says so. Linear in its length.
    """
    pieces: list[str] = []
    parts: list[Part] = []
    place, length, room = 0, 0, most
    for part in sorted(result.parts, key=lambda part: part.start):
        between, body = result.content[place : part.start], result.content[part.start : part.end]
        kind, is_cut = part.kind, False
        if kind in _BODIES:
            body = replace_images(body)
            if len(body) > room:
                body, kind, is_cut = body[:room], PartKind.TEXT, True
                between = _CUT.join(between.rsplit(_WHOLE, 1))
            room -= len(body)
        pieces += [between, body]
        start = length + len(between)
        parts.append(replace(part, kind=kind, start=start, end=start + len(body)))
        length = start + len(body)
        place = part.end
        if is_cut and not result.content.startswith(TRUNCATED, place):
            pieces.append(TRUNCATED)
            length += len(TRUNCATED)
    pieces.append(result.content[place:])
    content = "".join(pieces)
    return result if content == result.content else replace(result, content=content, parts=tuple(parts))


def _count(result: ToolCallResult) -> int:
    """Return the characters of a result's bodies, each image as long as its placeholder."""
    return sum(len(replace_images(result.content[part.start : part.end])) for part in result.parts if part.kind in _BODIES)
