"""Paging: how much of a list a request asks for, and the cursor that the next page is asked for with.

A cursor is a place in a list, authenticated under the API key that asked (HMAC-SHA-256) together with the workspace, the list
and its filters: the API needs no key of its own for it, keeps nothing, and accepts from a caller only what it was given for
this list. A new API key ends the cursors of the one before.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Generic, NamedTuple, TypeVar

from fastapi import Depends, Query, Request
from starlette.datastructures import QueryParams

from ferryman.domain.page import Position
from ferryman.domain.problem import build_input_error
from ferryman.serving.api.access import CurrentCaller, read_secret
from ferryman.serving.api.rights import Caller

LIMIT_MAX = 100
LIMIT_DEFAULT = 50
CURSOR_CHARACTERS_MAX = 2_100
"""The name of a document, which somebody else may have given, has up to 1,500 bytes."""

TOOLS_MAX = 10_000
"""More than a task can have."""

AGENTS_PATH = "/api/agents/"
FILTERS = (
    *("agent", "task", "status", "since", "enabled", "name", "of", "prefix", "state", "execution", "waiting"),
    *("cluster", "catalog"),
)
MAC_BYTES = 16

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = r"[A-Za-z0-9_-]{22,2100}"
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,6})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)

Place = TypeVar("Place")
Item = TypeVar("Item")

Most = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="How many, at most")]
MostOrAll = Annotated[
    int | None,
    Query(
        ge=1,
        le=LIMIT_MAX,
        description=f"How many, at most; {LIMIT_DEFAULT} by default, and all at the address of the tool-calling page",
    ),
]
Cursor = Annotated[str | None, Query(max_length=CURSOR_CHARACTERS_MAX, description="The `next` of the page before")]
Since = Annotated[
    str | None,
    Query(
        max_length=40,
        description="Only those created at this moment or later, with its offset from UTC: 2026-11-22T09:00:00Z",
        json_schema_extra={"format": "date-time"},
    ),
]


class ListedTool(NamedTuple):
    """A place in a list of tools: the built-in ones come first, then those of a task by cluster and name."""

    is_custom: bool
    cluster: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging(Generic[Place]):
    """At most `limit` from behind `after`, of the list that the cursors of `write_next` go on with."""

    limit: int
    after: Place | None
    encode: Callable[[Place], str]
    seal: Callable[[str], str] = field(repr=False)

    def write_next(self, end: Place | None) -> str | None:
        """Return the cursor of the page that begins after `end`, or None where there is none."""
        return None if end is None else self.seal(self.encode(end))


async def _page_by_time(
    request: Request, caller: CurrentCaller, limit: Most = LIMIT_DEFAULT, cursor: Cursor = None
) -> Paging[Position]:
    return _read(request, caller, limit, cursor, encode=_encode_position, decode=_decode_position)


async def _page_by_number(
    request: Request, caller: CurrentCaller, limit: Most = LIMIT_DEFAULT, cursor: Cursor = None
) -> Paging[int]:
    return _read(request, caller, limit, cursor, encode=str, decode=int)


async def _page_by_name(
    request: Request, caller: CurrentCaller, limit: Most = LIMIT_DEFAULT, cursor: Cursor = None
) -> Paging[str]:
    return _read(request, caller, limit, cursor, encode=str, decode=str)


async def _page_by_tool(
    request: Request, caller: CurrentCaller, limit: MostOrAll = None, cursor: Cursor = None
) -> Paging[ListedTool]:
    # a client of the tool-calling page knows of no cursor
    default = TOOLS_MAX if request.url.path.startswith(AGENTS_PATH) else LIMIT_DEFAULT
    return _read(request, caller, limit or default, cursor, encode=json.dumps, decode=_decode_tool)


ByName = Annotated[Paging[str], Depends(_page_by_name)]
ByTool = Annotated[Paging[ListedTool], Depends(_page_by_tool)]
ByTime = Annotated[Paging[Position], Depends(_page_by_time)]
ByNumber = Annotated[Paging[int], Depends(_page_by_number)]


def cut_by_name(items: Iterable[Item], paging: Paging[str], name: Callable[[Item], str]) -> tuple[tuple[Item, ...], str | None]:
    """Return those of `items` that are on the page, by name, and the cursor of the next one."""
    rest = sorted((item for item in items if paging.after is None or name(item) > paging.after), key=name)
    here = tuple(rest[: paging.limit])
    return here, paging.write_next(name(here[-1]) if len(rest) > len(here) else None)


def parse_moment(text: str | None) -> datetime | None:
    """Return the moment that `since` names, in UTC. Raise `InvalidInputError`."""
    if text is None:
        return None
    try:
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # a day that there is not, or one before the first
    raise build_input_error("since", "must be a moment with its offset from UTC, like 2026-11-22T09:00:00Z")


def _read(
    request: Request,
    caller: Caller,
    limit: int,
    cursor: str | None,
    *,
    encode: Callable[[Place], str],
    decode: Callable[[str], Place],
) -> Paging[Place]:
    key = read_secret(request)
    listed = f"{caller.workspace} {request.url.path}?{_write_filters(request.query_params)}"

    def seal(place: str) -> str:
        return base64.urlsafe_b64encode(_authenticate(key, listed, place) + place.encode()).decode().rstrip("=")

    after = None
    if cursor is not None:
        place = _open(cursor, key, listed)
        if place is None:
            raise build_input_error("cursor", "must be the next of another page of this list, with the same filters")
        after = decode(place)
    return Paging(limit=limit, after=after, encode=encode, seal=seal)


def _write_filters(query: QueryParams) -> str:
    return "&".join(f"{name}={query[name]}" for name in FILTERS if name in query)


def _authenticate(key: str, listed: str, place: str) -> bytes:
    return hmac.digest(key.encode(), f"ferryman-cursor\0{listed}\0{place}".encode(), "sha256")[:MAC_BYTES]


def _open(cursor: str, key: str, listed: str) -> str | None:
    """Return the place that `cursor` holds, or None where this API key was not given it for this list."""
    if not re.fullmatch(_CURSOR, cursor, re.ASCII):
        return None
    try:
        content = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        place = content[MAC_BYTES:].decode()
    except ValueError:
        return None
    return place if hmac.compare_digest(content[:MAC_BYTES], _authenticate(key, listed, place)) else None


def _encode_position(position: Position) -> str:
    return f"{(position.at - _EPOCH) // timedelta(microseconds=1)}:{position.id}"


def _decode_tool(place: str) -> ListedTool:
    is_custom, cluster, name = json.loads(place)
    return ListedTool(is_custom, cluster, name)


def _decode_position(place: str) -> Position:
    at, _, name = place.partition(":")
    return Position(_EPOCH + timedelta(microseconds=int(at)), name)
