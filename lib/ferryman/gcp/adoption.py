"""Adoption of documents from before there were workspaces, in Firestore, which finds no document by a field that it lacks.

So each collection is gone through once by name. A page is one transaction, with the adoption's own document: what others change
meanwhile has it read again, and never loses their change, since only fields that are missing are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.workspaces.adoption import Adoption, AdoptionStage, begin_pass
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.gcp import documents, occupancy
from ferryman.gcp.adopted_balances import adopt_balances
from ferryman.gcp.execution_documents import ADMITTED, is_unchanged
from ferryman.gcp.store import (
    FirestoreStore,
    Reference,
    Snapshot,
    Transaction,
    filter_by,
    get_readable,
    in_transaction,
    read_together,
)

PAGE = 100
"""How many documents one transaction goes through; of owners one, with all of their tasks."""

TELL_EVERY = 2_000
"""After how many documents of a collection the progress is told again."""

PLACE_FIELDS = ("owner", "workspace", "agent", ADMITTED)
COLLECTIONS = {
    AdoptionStage.OWNERS: "owners",
    AdoptionStage.BALANCES: "purses",
    AdoptionStage.TASKS: "tasks",
    AdoptionStage.EXECUTIONS: "executions",
}
TASK_BALANCES = ("task:", "task;")
"""The names of tasks' own balances are from the first of these on, and before the second."""

Tell = Callable[[str], None]


class FirestoreAdoption(FirestoreStore):
    """The adoption of one database. Any number may work at it at once: each page is adopted once."""

    async def run(self, tell: Tell, now: Callable[[], datetime], *, is_quiet: bool, page: int = PAGE) -> Adoption | None:
        """Adopt page by page until all is adopted, and return the counts; None where there was nothing to do.

        `tell` hears how far it is, `now` tells the time, and `is_quiet` that no function runs. Raise `UnavailableError`: the
        next run goes on.
        """
        adoption = await self.begin(is_quiet=is_quiet, now=now())
        if adoption is None:
            return None
        reported_at = -TELL_EVERY
        while not adoption.is_done:
            stage, seen = adoption.stage, adoption.seen.get(adoption.stage.value, 0)
            if any(adoption.seen.values()) and (seen - reported_at >= TELL_EVERY or not seen):
                tell(f"putting the {stage.value} of before into workspaces: {seen:,} gone through")
                reported_at = seen
            adoption = await self.advance(page=page, now=now())
        return adoption

    @in_transaction
    async def begin(self, transaction: Transaction, *, is_quiet: bool, now: datetime) -> Adoption | None:
        """Return the adoption to go on with, stored; None where there is nothing to do."""
        marker = self._places.locate_adoption()
        stored = documents.read_or_none(Adoption, await marker.get(transaction=transaction))
        adoption = begin_pass(stored, is_quiet=is_quiet, now=now)
        if adoption is not None and adoption is not stored:
            transaction.set(marker, documents.write(adoption))
        return adoption

    @in_transaction
    async def advance(self, transaction: Transaction, *, page: int, now: datetime) -> Adoption:
        """Adopt one page, at most `page` documents, and return how far the adoption is now. Raise KeyError before `begin`."""
        marker = self._places.locate_adoption()
        adoption = documents.read(Adoption, (await marker.get(transaction=transaction)).to_dict())
        if adoption.is_done:
            return adoption
        most = 1 if adoption.stage is AdoptionStage.OWNERS else page
        snapshots = await self._read_page(transaction, adoption, most)
        adopted = await self._adopt(transaction, adoption.stage, snapshots, now)
        after = adoption.add_page(
            seen=len(snapshots), adopted=adopted, last=snapshots[-1].id if len(snapshots) == most else None
        )
        transaction.set(marker, documents.write(after))
        return after

    async def _read_page(self, transaction: Transaction, adoption: Adoption, most: int) -> Sequence[Snapshot]:
        collection = self._client.collection(COLLECTIONS[adoption.stage])
        query = collection.order_by("__name__")
        after = adoption.after
        if adoption.stage is AdoptionStage.BALANCES:
            first, end = (collection.document(name) for name in TASK_BALANCES)
            query = filter_by(query, ("__name__", ">=", first), ("__name__", "<", end))
        if after:
            query = query.start_after({"__name__": after})
        query = query.limit(most)
        try:
            return [snapshot async for snapshot in query.select(PLACE_FIELDS).stream(transaction=transaction)]
        except ValueError:
            # Google's client cannot read a document that a stranger stored: each is read by itself, and that one is not ours
            named = [snapshot async for snapshot in query.select(["__name__"]).stream(transaction=transaction)]
            return [await get_readable(item.reference, transaction, names=PLACE_FIELDS) or item for item in named]

    async def _adopt(self, transaction: Transaction, stage: AdoptionStage, snapshots: Sequence[Snapshot], now: datetime) -> int:
        """Write what is missing of the documents `snapshots`, and return of how many there was anything."""
        if stage is AdoptionStage.OWNERS:
            return sum([await adopt_balances(self._client, transaction, snapshot.id, now) for snapshot in snapshots])
        if stage is AdoptionStage.BALANCES:
            for snapshot in snapshots:
                transaction.delete(snapshot.reference)
            return len(snapshots)
        missing = {snapshot.reference: change for snapshot in snapshots if (change := _find_missing(snapshot, stage))}
        if stage is AdoptionStage.EXECUTIONS:
            missing = await self._leave_out_forged(transaction, snapshots, missing)
        for reference, change in missing.items():
            transaction.update(reference, change)
        return len(missing)

    async def _leave_out_forged(
        self, transaction: Transaction, snapshots: Sequence[Snapshot], missing: dict[Reference, dict[str, str]]
    ) -> dict[Reference, dict[str, str]]:
        """Return the changes of those that are executions.

        A document that was only ever created may be an application's, whatever it says of itself, and counts as changed by us
        from the first write on: it is left alone unless its owner's occupancy names it.
        """
        new = {
            snapshot.reference: snapshot for snapshot in snapshots if snapshot.reference in missing and is_unchanged(snapshot)
        }
        owners = sorted({snapshot.get("owner") for snapshot in new.values()})
        if not owners:
            return missing
        places = {owner: self._places.locate_occupancy(owner) for owner in owners}
        stored = await read_together(self._client, list(places.values()), transaction)
        known = {owner: occupancy.read_occupancy(stored[place.path]).list_unfinished() for owner, place in places.items()}
        forged = {reference for reference, item in new.items() if item.id not in known[item.get("owner")]}
        return {reference: change for reference, change in missing.items() if reference not in forged}


def _find_missing(snapshot: Snapshot, stage: AdoptionStage) -> dict[str, str]:
    """Return the fields that say where a task or an execution belongs, those that its document lacks; none for others'."""
    stored: dict[str, Any] = snapshot.to_dict() or {}
    owner = stored.get("owner")
    is_ours = stage is AdoptionStage.TASKS or stored.get(ADMITTED) is True
    if not is_ours or not isinstance(owner, str) or not owner or "/" in owner:
        return {}
    workspace = stored.get("workspace") or derive_default_workspace(owner)
    place = {"workspace": workspace, "agent": derive_default_agent(workspace)}
    return {name: value for name, value in place.items() if not stored.get(name)}
