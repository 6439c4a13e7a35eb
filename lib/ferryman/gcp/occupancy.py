"""An owner's occupancy in Firestore: a document that is read to take a slot, and written without reading to free one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import Plan
from ferryman.gcp import documents
from ferryman.gcp.places import Places
from ferryman.gcp.store import Snapshot, Transaction


def read_occupancy(snapshot: Snapshot) -> Occupancy:
    """Return the occupancy in `snapshot`, empty where there is no document yet."""
    return Occupancy(**(snapshot.to_dict() or {}))


def store_occupancy(transaction: Transaction, places: Places, owner: str, occupancy: Occupancy) -> None:
    """Store the occupancy that was read in the same transaction."""
    transaction.set(places.locate_occupancy(owner), {name: dict(named) for name, named in asdict(occupancy).items()})


def free_slot(transaction: Transaction, places: Places, execution: Execution, *, suspended: datetime | None = None) -> None:
    """Remove `execution` from its owner's occupancy, whatever else is in it; one not ended is `suspended` since then."""
    from google.cloud.firestore import DELETE_FIELD

    removal = {execution.id: DELETE_FIELD}
    change = {"queued": removal, "running": removal, "suspended": {execution.id: suspended or DELETE_FIELD}}
    transaction.set(places.locate_occupancy(execution.owner), change, merge=True)


def find_plan(snapshot: Snapshot, plans: Mapping[str, Plan]) -> Plan | None:
    """Return the plan of the owner in `snapshot`, or None where there is no such owner or plan."""
    owner = documents.read_or_none(Owner, snapshot)
    return None if owner is None else plans.get(owner.plan)
