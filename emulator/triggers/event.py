"""The event: a change of a document as a CloudEvent in binary mode, the way Eventarc writes it."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from google.cloud.firestore_v1 import types

PREFIX = "google.cloud.firestore.document.v1."
CREATED = f"{PREFIX}created"
SCHEMA = "https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/firestore/v1/data.proto"
NAME = re.compile(r"projects/([^/]+)/databases/([^/]+)/documents/(.+)", re.DOTALL)
SIMPLE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
Mask = types.DocumentMask.pb()
LENGTH_DELIMITED = 2


class WatchedChange(Protocol):
    """One document's change: its full name, the google.firestore.v1.Document before and after (None where there was
    or is none), and when it was committed."""

    @property
    def name(self) -> str: ...
    @property
    def before(self) -> Any | None: ...
    @property
    def after(self) -> Any | None: ...
    @property
    def at(self) -> datetime: ...


def list_kinds(change: WatchedChange) -> tuple[str, ...]:
    """Return the types of event of a change; none where nothing changed."""
    if change.before is None and change.after is None:
        return ()
    if change.before is None:
        kind = "created"
    elif change.after is None:
        kind = "deleted"
    elif next(iterate_changed(change.before.fields, change.after.fields), None) is None:
        return ()
    else:
        kind = "updated"
    return f"{PREFIX}{kind}", f"{PREFIX}written"


def path(change: WatchedChange) -> str:
    """Return the document's path in its database."""
    return _parts(change)[2]


def headers(change: WatchedChange, *, event: str, number: str, location: str) -> dict[str, str]:
    """Return the headers of the event `number`."""
    project, database, document = _parts(change)
    at = change.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    values = {
        "content-type": "application/protobuf",
        "ce-specversion": "1.0",
        "ce-id": number,
        "ce-type": event,
        "ce-source": f"//firestore.googleapis.com/projects/{project}/databases/{database}",
        "ce-subject": f"documents/{document}",
        "ce-time": at,
        "ce-datacontenttype": "application/protobuf",
        "ce-dataschema": SCHEMA,
        "ce-project": project,
        "ce-database": database,
        "ce-namespace": "(default)",
        "ce-document": document,
        "ce-location": location,
    }
    return {name: _encoded(value) for name, value in values.items()}


def body(change: WatchedChange) -> bytes:
    """Return the serialised google.events.cloud.firestore.v1.DocumentEventData.

    It is put together by hand: its Documents are those of google.firestore.v1 on the wire, so that no package of
    event types is needed.
    """
    parts = [(1, change.after), (2, change.before)]
    if change.before is not None and change.after is not None:
        parts.append((3, Mask(field_paths=list(iterate_changed(change.before.fields, change.after.fields)))))
    return b"".join(_field(number, part.SerializeToString()) for number, part in parts if part is not None)


def iterate_changed(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the paths of the fields that were added, removed or altered, as deep as both sides are maps."""
    for name in sorted({*before, *after}):
        quoted = name if SIMPLE.fullmatch(name) else "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
        if name not in before or name not in after:
            yield prefix + quoted
            continue
        old, new = before[name], after[name]
        if old.HasField("map_value") and new.HasField("map_value"):
            yield from iterate_changed(old.map_value.fields, new.map_value.fields, f"{prefix}{quoted}.")
        # As bytes: NaN is the same as NaN, and 0.0 another than -0.0.
        elif old.SerializeToString(deterministic=True) != new.SerializeToString(deterministic=True):
            yield prefix + quoted


def _parts(change: WatchedChange) -> tuple[str, str, str]:
    parts = NAME.fullmatch(change.name)
    if parts is None:
        raise ValueError(f"{change.name!r} is not the name of a document")
    return parts[1], parts[2], parts[3]


def _encoded(value: str) -> str:
    """Return a header's value, percent-encoded where the CloudEvents HTTP binding requires it."""
    return "".join(
        char if " " < char <= "~" and char not in '"%' else "".join(f"%{octet:02X}" for octet in char.encode())
        for char in value
    )


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | LENGTH_DELIMITED) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)
