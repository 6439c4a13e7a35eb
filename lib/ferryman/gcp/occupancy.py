"""An owner's occupancy in Firestore: a document that is read where a slot is taken, and written without reading to free it."""

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
    """The occupancy that `snapshot` holds; none where there is no document yet."""
    return Occupancy(**(snapshot.to_dict() or {}))


def store_occupancy(transaction: AsyncTransaction, client: AsyncClient, owner: str, occupancy: Occupancy) -> None:
    """Store what was read in the same transaction, and changed since."""
    transaction.set(
        places.locate_occupancy(client, owner), {"queued": dict(occupancy.queued), "running": dict(occupancy.running)}
    )


def free_slot(transaction: AsyncTransaction, client: AsyncClient, execution: Execution) -> None:
    """Take `execution` off its owner's occupancy, whatever else is in it."""
    from google.cloud.firestore import DELETE_FIELD

    gone = {execution.id: DELETE_FIELD}
    transaction.set(places.locate_occupancy(client, execution.owner), {"queued": gone, "running": gone}, merge=True)


def find_plan(snapshot: DocumentSnapshot[Any], plans: Mapping[str, Plan]) -> Plan | None:
    """The plan of the owner in `snapshot`; None where there is no such owner or plan."""
    document = snapshot.to_dict()
    return None if document is None else plans.get(documents.read(Owner, document).plan)
