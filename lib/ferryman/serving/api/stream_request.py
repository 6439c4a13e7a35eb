"""What a request says of the stream that it asks for: the format, and what its client has seen already."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Query
from starlette.requests import Request

from ferryman.domain.conversations.position import BEGINNING, POSITION_CHARACTERS_MAX, StreamPosition, parse_position
from ferryman.serving.streams.choice import StreamFormat, find_format, negotiate_format

ID_CHARACTERS_MAX = POSITION_CHARACTERS_MAX + 16
_ANSWER = re.compile(r"([0-9]{1,9})\.(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """The `format`, None where the request names none, and the `position` after which the stream goes on.

    `answer` is the number of the answer that the position is in, None where the id does not say.
    """

    format: StreamFormat | None = None
    position: StreamPosition = BEGINNING
    answer: int | None = None


AcceptHeader = Annotated[str, Header(description="`text/event-stream; format=ag-ui` chooses a format, too")]
FormatName = Annotated[StreamFormat | None, Query(alias="format", description="The format; it wins over `Accept`")]


def choose_format(accept: AcceptHeader = "", name: FormatName = None) -> StreamRequest:
    """Return the format that a request asks for, from the beginning on."""
    return StreamRequest(name or negotiate_format(accept))


def read_from(request: Request) -> StreamRequest:
    """Return the same of a request that is not read yet, and whose format may be none."""
    name = request.query_params.get("format", "")
    return choose_format(request.headers.get("accept", ""), find_format(name))


def read_stream_request(
    chosen: Annotated[StreamRequest, Depends(choose_format)],
    after: Annotated[
        str, Query(max_length=ID_CHARACTERS_MAX, pattern=r"^[0-9a-z.-]*$", description="Only what follows the event of this id")
    ] = "",
    last_event_id: Annotated[str | None, Header(description="The same, as browsers say it; it wins")] = None,
) -> StreamRequest:
    """Return what a request asks for. An id that is none counts as none."""
    for name in (last_event_id, after):
        answer, position = parse_event_id(name or "")
        if position is not None:
            return StreamRequest(chosen.format, position, answer)
    return chosen


def parse_event_id(text: str) -> tuple[int | None, StreamPosition | None]:
    """Return the number of the answer and the position that an id names, each None where it does not."""
    match = _ANSWER.fullmatch(text)
    if match is None:
        return None, parse_position(text)
    return int(match[1]), parse_position(match[2])


def write_prefix(answer: int) -> str:
    """Return what ids begin with in the stream of a conversation, whose answers each have events of their own."""
    return f"{answer}."


ChosenFormat = Annotated[StreamRequest, Depends(choose_format)]
StreamChoice = Annotated[StreamRequest, Depends(read_stream_request)]
