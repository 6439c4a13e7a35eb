"""Kill switches in Firestore: a document that tells whether it is on, and since when it is or is not."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.gcp import places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.store import FirestoreStore, read_together

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, DocumentSnapshot


@translate_errors
class FirestoreHalts(FirestoreStore):
    """`ports.Halts`."""

    async def find_halt_reason(self, owner: str, *, created: datetime | None = None) -> str | None:
        switches = await read_together(self._client, list_switches(self._client, owner))
        return read_halt_reason(switches, self._client, owner, created)

    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None:
        reference = places.locate_halt(self._client, owner)
        if on or (await reference.get()).exists:
            await reference.set({"on": on, "at": now})


def list_switches(client: AsyncClient, owner: str) -> list[AsyncDocumentReference]:
    """Return the documents of the switches that stop `owner`'s executions."""
    return [places.locate_halt(client, None), places.locate_halt(client, owner)]


def read_halt_reason(
    snapshots: Mapping[str, DocumentSnapshot[Any]], client: AsyncClient, owner: str, created: datetime | None = None
) -> str | None:
    """Return what `Halts.find_halt_reason` does, of `snapshots` that hold the switches by path."""
    by_operator, by_owner = (snapshots[reference.path].to_dict() for reference in list_switches(client, owner))
    if _stops(by_operator, created):
        return BY_OPERATOR
    return BY_OWNER if _stops(by_owner, created) else None


def _stops(switch: Mapping[str, Any] | None, created: datetime | None) -> bool:
    if switch is None:
        return False
    return bool(switch["on"]) or (created is not None and created <= switch["at"])
