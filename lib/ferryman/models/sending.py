"""Whether a request has begun to be sent: one that is broken off before, while a connection is tried, cannot be billed."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ferryman.models.heads import RequestHead

_BEGINNING = ".send_request_headers.started"
"""The end of the name that the transport gives to the moment before the first byte of a request (HTTP/1.1 and HTTP/2)."""


@dataclass
class SendingRecord:
    """What became of the present attempt at a request: its head, once it is built, and whether it `began` to be sent."""

    began: bool = False
    head: RequestHead | None = None

    async def note(self, event: str, _: Any) -> None:
        """Note an event of the transport."""
        self.began = self.began or event.endswith(_BEGINNING)


_RECORD: ContextVar[SendingRecord | None] = ContextVar("sending", default=None)


def start_record() -> SendingRecord:
    """Return a new record, which the requests of this task write to from now on."""
    record = SendingRecord()
    _RECORD.set(record)
    return record


def find_head() -> RequestHead | None:
    """Return the head of the request of this task's record; None where there is none."""
    record = _RECORD.get()
    return None if record is None else record.head


async def watch_request(request: Any) -> None:
    """Have the transport tell of a request; a hook of its client, called before there is a connection."""
    record = _RECORD.get()
    if record is not None:
        record.head = RequestHead.from_request(request)
        request.extensions["trace"] = record.note
