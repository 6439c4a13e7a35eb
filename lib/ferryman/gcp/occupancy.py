"""An owner's occupancy in Firestore: a document that is read to take a slot, and written without reading to free one."""

from __future__ import annotations

from collections.abc import Mapping

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
    document = {"queued": dict(occupancy.queued), "running": dict(occupancy.running)}
    transaction.set(places.locate_occupancy(owner), document)


def free_slot(transaction: Transaction, places: Places, execution: Execution) -> None:
    """Remove `execution` from its owner's occupancy, whatever else is in it."""
    from google.cloud.firestore import DELETE_FIELD

    removal = {execution.id: DELETE_FIELD}
    transaction.set(places.locate_occupancy(execution.owner), {"queued": removal, "running": removal}, merge=True)


def find_plan(snapshot: Snapshot, plans: Mapping[str, Plan]) -> Plan | None:
    """Return the plan of the owner in `snapshot`, or None where there is no such owner or plan."""
    owner = documents.read_or_none(Owner, snapshot)
    return None if owner is None else plans.get(owner.plan)
