"""The journal of an execution as readers have it: its opening, its turns, its calls and its receipts."""

from __future__ import annotations

from collections.abc import Sequence

from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import ExecutionSetup, Step
from ferryman.domain.receipts.receipt import Receipt
from ferryman.gcp import documents, turns
from ferryman.gcp.store import FirestoreStore, filter_by


class FirestoreJournal(FirestoreStore):
    """What of `ports.Executions` reads the documents below one."""

    async def opening(self, execution: str) -> ExecutionSetup | None:
        return documents.read_or_none(ExecutionSetup, await self._places.locate_step(execution, 0).get())

    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]:
        collection = self._places.locate_execution(execution).collection("steps")
        query = filter_by(collection, ("number", ">", after)).order_by("number")
        return await documents.read_all(Step, query.select(documents.name_fields(Step)))

    async def tickets(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Ticket]:
        collection = self._places.locate_execution(execution).collection("calls")
        query = filter_by(collection, ("seq", ">=", first)).order_by("seq")
        return await documents.read_all(Ticket, query if most is None else query.limit(most))

    async def receipts(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Receipt]:
        collection = self._places.locate_execution(execution).collection("steps").select(turns.RECEIPT_FIELDS)
        commits = []
        if first > 0:
            # the one that holds it, which may have begun with another
            earlier = filter_by(collection, ("first_receipt", "<=", first)).order_by("first_receipt", direction="DESCENDING")
            commits += await documents.read_all(turns.StoredReceipts, earlier.limit(1))
        later = filter_by(collection, ("first_receipt", ">", first if commits else -1)).order_by("first_receipt")
        # each commit holds at least one
        commits += await documents.read_all(turns.StoredReceipts, later if most is None else later.limit(most))
        return [receipt for commit in commits for receipt in commit.receipts if receipt.number >= first][:most]
