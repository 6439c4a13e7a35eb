"""Kill switches in Firestore: a document that tells whether it is on, and since when it is or is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.gcp.documents import StoredDocument
from ferryman.gcp.places import Places
from ferryman.gcp.store import FirestoreStore, Reference, filter_by, read_together
from ferryman.ports.halts import Stoppable

CLOCKS_APART = timedelta(minutes=5)
"""How far the clocks of two functions may be apart, and how long a switch takes to be stored: more than either ever is."""

CANCEL = "cancel_requested"
"""The field of an execution that tells that it is to be cancelled."""

CHANGED_MAX = 50
"""Switches that were changed lately; where there are more, those that matter are read by themselves."""


class FirestoreHalts(FirestoreStore):
    """`ports.Halts`."""

    async def find_halt_reason(self, owner: str, *, created: datetime | None = None) -> str | None:
        switches = await read_together(self._client, list_switches(self._places, owner))
        return read_halt_reason(switches, self._places, owner, created)

    async def find_halt_reasons(self, executions: Collection[Stoppable]) -> Mapping[Stoppable, str]:
        """Read what was changed since the oldest of them was created: one query that mostly finds nothing, however many they
        are."""
        since = min(created for _, created in executions) - CLOCKS_APART
        changed = filter_by(self._client.collection("halts"), ("at", ">=", since)).limit(CHANGED_MAX)
        switches = {snapshot.reference.path: snapshot async for snapshot in changed.stream()}
        if len(switches) == CHANGED_MAX:
            owners: list[str | None] = [None, *{owner for owner, _ in executions}]
            switches = await read_together(self._client, [self._places.locate_halt(owner) for owner in owners])
        reasons = {}
        for owner, created in executions:
            documents = [switches.get(switch.path) for switch in list_switches(self._places, owner)]
            reason = find_reason([document and document.to_dict() for document in documents], created)
            if reason is not None:
                reasons[owner, created] = reason
        return reasons

    async def list_cancelled(self, executions: Collection[str]) -> Collection[str]:
        places = {self._places.locate_execution(name).path: name for name in executions}
        references = [self._places.locate_execution(name) for name in executions]
        snapshots = await read_together(self._client, references, names=[CANCEL])
        return {places[path] for path, snapshot in snapshots.items() if (snapshot.to_dict() or {}).get(CANCEL) is True}

    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None:
        reference = self._places.locate_halt(owner)
        if on or (await reference.get()).exists:
            await reference.set({"on": on, "at": now})


def list_switches(places: Places, owner: str) -> list[Reference]:
    """Return the documents of the switches that stop `owner`'s executions."""
    return [places.locate_halt(None), places.locate_halt(owner)]


def read_halt_reason(
    snapshots: Mapping[str, StoredDocument], places: Places, owner: str, created: datetime | None = None
) -> str | None:
    """Return what `Halts.find_halt_reason` does, of `snapshots` that hold the switches by path."""
    return find_reason([snapshots[reference.path].to_dict() for reference in list_switches(places, owner)], created)


def find_reason(switches: Sequence[Mapping[str, Any] | None], created: datetime | None) -> str | None:
    """Return the same of the documents that `list_switches` names, None for one that is not there."""
    by_operator, by_owner = switches
    if _stops(by_operator, created):
        return BY_OPERATOR
    return BY_OWNER if _stops(by_owner, created) else None


def _stops(switch: Mapping[str, Any] | None, created: datetime | None) -> bool:
    """Tell whether a switch stops an execution that was created then; one that cannot be read is on, for its owner alone."""
    if switch is None:
        return False
    on, at = switch.get("on", True), switch.get("at")
    if on or not isinstance(at, datetime):
        return True
    return created is not None and created <= at
