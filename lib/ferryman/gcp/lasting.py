"""What is stored below an execution outlasts its waits for people: it expires, as ever, with the execution's own document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.gcp.places import Places
from ferryman.gcp.store import Reference, filter_by

AT_ONCE = 400
"""How many documents one commit changes."""

LIVE = "live"
"""The name of the turn under way, which may be deleted at any moment."""


async def set_expiry_below(client: Any, execution: str, expiry: Mapping[str, Any]) -> None:
    """Have all documents below an execution, and its approvals, expire as `expiry` says; where it is empty, change nothing."""
    if not expiry:
        return
    execution_at = Places(client).locate_execution(execution)
    approvals = filter_by(client.collection("approvals"), ("execution", "==", execution))
    references: list[Reference] = []
    for query in (execution_at.collection("calls"), execution_at.collection("steps"), approvals):
        references += [snapshot.reference async for snapshot in query.select([]).stream() if snapshot.id != LIVE]
    for first in range(0, len(references), AT_ONCE):
        batch = client.batch()
        for reference in references[first : first + AT_ONCE]:
            batch.update(reference, dict(expiry))
        await batch.commit()
