"""The journal of an execution as readers have it: its opening, its turns, its calls and its receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.execution import ExecutionSetup, Step
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.stored import get_stored_name
from ferryman.gcp import documents, turns
from ferryman.gcp.store import FirestoreStore, filter_by

ARGUMENTS, DISPLAY_ARGUMENTS = "arguments", get_stored_name(Ticket.__dataclass_fields__["display_arguments"])

BRIEF_FIELDS = (
    *(name for name in documents.name_fields(Ticket) if name not in (ARGUMENTS, DISPLAY_ARGUMENTS, "continuation", "result")),
    *(f"result.{name}" for name in documents.name_fields(ToolCallResult) if name not in ("content", "parts")),
)
"""What is read of a call in brief."""


class FirestoreJournal(FirestoreStore):
    """What of `ports.Executions` reads the documents below one."""

    async def opening(self, execution: str) -> ExecutionSetup | None:
        return documents.read_or_none(ExecutionSetup, await self._places.locate_step(execution, 0).get())

    async def steps(self, execution: str, *, after: int = 0, most: int | None = None) -> Sequence[Step]:
        return await documents.read_all(Step, self._query_steps(execution, after, most).select(documents.name_fields(Step)))

    async def tickets(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Ticket]:
        return await documents.read_all(Ticket, self._query_calls(execution, first, most))

    async def brief_steps(self, execution: str, *, after: int, most: int) -> Sequence[Step]:
        query = self._query_steps(execution, after, most).select(
            [name for name in documents.name_fields(Step) if name != "content"]
        )
        return [documents.read(Step, {**_read(snapshot), "content": []}) async for snapshot in query.stream()]

    async def brief_tickets(self, execution: str, *, first: int, most: int) -> Sequence[Ticket]:
        query = self._query_calls(execution, first, most).select(BRIEF_FIELDS)
        return [documents.read(Ticket, _complete(_read(snapshot))) async for snapshot in query.stream()]

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

    def _query_steps(self, execution: str, after: int, most: int | None) -> Any:
        collection = self._places.locate_execution(execution).collection("steps")
        query = filter_by(collection, ("number", ">", after)).order_by("number")
        return query if most is None else query.limit(most)

    def _query_calls(self, execution: str, first: int, most: int | None) -> Any:
        collection = self._places.locate_execution(execution).collection("calls")
        query = filter_by(collection, ("seq", ">=", first)).order_by("seq")
        return query if most is None else query.limit(most)


def _read(snapshot: Any) -> Mapping[str, Any]:
    return snapshot.to_dict() or {}


def _complete(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document of a call in brief with the fields that were not read, so that it is a ticket's."""
    result = document.get("result")
    whole = None if not result else {**result, "content": "", "parts": []}
    return {**document, ARGUMENTS: b"", DISPLAY_ARGUMENTS: "{}", "result": whole}
