"""The relay for Google's Firestore emulator: takes the events that it sends once and wrongly, for our triggers to deliver.

Its body is base64, its source says `projects/` twice, its mask is empty, its time has no fractions, and an event that is
not taken is lost. So it is asked for every change there is, and what it tells is read as a change, like one of ours.
"""

import base64
import binascii
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx
from google.cloud.firestore_v1 import types
from google.protobuf.message import DecodeError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.triggers import event as events
from emulator.triggers.triggers import Triggers

log = logging.getLogger(__name__)

Document = types.Document.pb()
EVERYTHING = {
    "eventType": f"{events.PREFIX}written",
    "database": "(default)",
    "namespace": "(default)",
    "document": {"value": "{path=**}", "matchType": "PATH_PATTERN"},
}
ATTEMPTS_S = 10.0


class UnreadableEventError(ValueError):
    """It is not an event of Google's emulator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedChange:
    """A change, as Google's emulator reports it."""

    name: str
    before: Any | None
    after: Any | None
    at: datetime


def relay_app(triggers: Triggers, trigger: str) -> Starlette:
    """Return the application behind `--functions_emulator`: it answers 200 once the event is kept.

    `trigger` is a name that cannot be guessed: it is all that an event shows.
    """

    async def take(request: Request) -> Response:
        try:
            change = read_change(await request.body(), request.headers.get("ce-time", ""))
        except UnreadableEventError as error:
            return Response(str(error), 400)
        triggers.observe(change)
        return Response()

    return Starlette(routes=[Route(f"/functions/projects/{{project}}/triggers/{trigger}", take, methods=["POST"])])


async def listen_in(host: str, project: str, trigger: str) -> bool:
    """Ask the emulator at `host` for all changes in the default database, as events of this trigger.

    Returns false, with a warning, where it does not agree.
    """
    url = f"http://{host}/emulator/v1/projects/{project}/eventarcTrigger"
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=ATTEMPTS_S) as client:
            answer = await client.post(url, params={"eventarcTriggerId": trigger}, json=EVERYTHING)
            answer.raise_for_status()
    except httpx.HTTPError as error:
        # the error's own words may repeat the trigger's name
        fault = type(error).__name__
        log.warning("the Firestore at %s tells of no changes, so that no trigger will fire (%s)", host, fault)
        return False
    return True


def read_change(body: bytes, time: str) -> ReportedChange:
    """Return the change in an event's body and its header `ce-time`; raise UnreadableEventError."""
    try:
        parts = dict(iterate_fields(base64.b64decode(body, validate=True)))
        after, before = (Document.FromString(parts[number]) if number in parts else None for number in (1, 2))
        document = after or before
        if document is None:
            raise UnreadableEventError("the event has no document")
        # The header has whole seconds only; for what was deleted there is no better.
        at = after.update_time.ToDatetime(datetime.fromisoformat(time).tzinfo) if after else datetime.fromisoformat(time)
    except (binascii.Error, DecodeError, IndexError, ValueError) as error:
        raise UnreadableEventError(f"the event cannot be read: {error}") from error
    if not events.NAME.fullmatch(document.name):
        raise UnreadableEventError("the event's document has no name")
    return ReportedChange(name=document.name, before=before, after=after, at=at)


def iterate_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message whose fields are all messages: number and content. Raise ValueError, IndexError."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        size, place = _varint(message, place)
        if tag & 7 != events.LENGTH_DELIMITED or place + size > len(message):
            raise ValueError("it is not made of messages")
        yield tag >> 3, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        octet = message[place]
        place += 1
        number |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            return number, place
