"""An owner's occupancy in Firestore: a document that is read to take a slot, and written without reading to free one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import Plan
from ferryman.gcp import documents, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.cloud.firestore import AsyncClient, AsyncTransaction, DocumentSnapshot


def read_occupancy(snapshot: DocumentSnapshot[Any]) -> Occupancy:
    """Return the occupancy in `snapshot`, empty where there is no document yet."""
    return Occupancy(**(snapshot.to_dict() or {}))


def store_occupancy(transaction: AsyncTransaction, client: AsyncClient, owner: str, occupancy: Occupancy) -> None:
    """Store the occupancy that was read in the same transaction."""
    transaction.set(
        places.locate_occupancy(client, owner), {"queued": dict(occupancy.queued), "running": dict(occupancy.running)}
    )


def free_slot(transaction: AsyncTransaction, client: AsyncClient, execution: Execution) -> None:
    """Remove `execution` from its owner's occupancy, whatever else is in it."""
    from google.cloud.firestore import DELETE_FIELD

    removal = {execution.id: DELETE_FIELD}
    transaction.set(places.locate_occupancy(client, execution.owner), {"queued": removal, "running": removal}, merge=True)


def find_plan(snapshot: DocumentSnapshot[Any], plans: Mapping[str, Plan]) -> Plan | None:
    """Return the plan of the owner in `snapshot`, or None where there is no such owner or plan."""
    owner = documents.read_or_none(Owner, snapshot)
    return None if owner is None else plans.get(owner.plan)
