"""Approvals in Firestore: a document each. Nothing in one is believed but a decision whose signature is verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.approvals.approval import (
    Approval,
    ApprovalDecidedError,
    ApprovalState,
    decide_approval,
    use_approval,
    withdraw_approval,
)
from ferryman.domain.approvals.decision import SignedDecision
from ferryman.domain.approvals.notice import ApprovalNotice, is_settled
from ferryman.domain.approvals.standing import StandingApproval, use_standing
from ferryman.domain.copies import replace
from ferryman.domain.page import Page, Position
from ferryman.gcp import documents
from ferryman.gcp.documents import StoredDocument, UnreadableDocumentError
from ferryman.gcp.execution_documents import read_execution
from ferryman.gcp.pages import read_page
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, filter_by, get_readable, in_transaction, list_readable
from ferryman.ports.approvals import EXECUTION_ENDED, TooManyStandingError

STANDING_KEPT = timedelta(days=30)
"""How long a standing approval is kept after it is over."""

LIST_FIELDS = tuple(name for name in documents.name_fields(Approval) if name != "form")
"""What a list reads: a form may have hundreds of kilobytes."""

DECISION_FIELDS = ("state", "decided")
PENDING = ("state", "==", ApprovalState.PENDING.value)


class FirestoreApprovals(FirestoreStore):
    """`ports.Approvals`."""

    async def get(self, approval: str) -> Approval | None:
        snapshot = await get_readable(self._places.locate_approval(approval))
        return None if snapshot is None else read_approval(snapshot)

    async def list(
        self,
        workspace: str,
        *,
        state: ApprovalState | None = None,
        execution: str | None = None,
        after: Position | None = None,
        most: int = 50,
    ) -> Page[Approval]:
        query = filter_by(self._client.collection("approvals"), ("workspace", "==", workspace))
        for name, value in (("state", state), ("execution", execution)):
            if value is not None:
                query = filter_by(query, (name, "==", str(value)))
        return await read_page(query, read_approval, names=LIST_FIELDS, after=after, most=most, newest_first=True)

    async def list_of(self, execution: str) -> Sequence[Approval]:
        query = filter_by(self._client.collection("approvals"), ("execution", "==", execution)).select(LIST_FIELDS)
        stored = [read_approval(snapshot) for snapshot in await list_readable(query)]
        return sorted((item for item in stored if item is not None), key=lambda item: (item.seq, item.created_at, item.id))

    async def find_last(self, workspace: str, tool: str) -> Approval | None:
        conditions = ("workspace", "==", workspace), ("tool", "==", tool), ("state", "==", ApprovalState.APPROVED.value)
        query = filter_by(self._client.collection("approvals"), *conditions)
        last = query.order_by("decided.decision.at", direction="DESCENDING").limit(1)
        stored = [read_approval(snapshot) for snapshot in await list_readable(last)]
        return next((item for item in stored if item is not None), None)

    @in_transaction
    async def decide(self, transaction: Transaction, signed: SignedDecision, *, now: datetime) -> Approval:
        decision = signed.decision
        reference, approval = await self._read(transaction, decision.approval)
        if not approval.is_subject_of(decision):
            raise KeyError(approval.id)
        decided = decide_approval(approval, signed, now=now)
        if decided is approval:
            return approval
        snapshot = await get_readable(self._places.locate_execution(approval.execution), transaction)
        execution = None if snapshot is None else read_execution(snapshot)
        if execution is None or execution.status.terminal or execution.cancel_requested:
            raise ApprovalDecidedError(EXECUTION_ENDED)
        transaction.update(reference, documents.write_fields(decided, *DECISION_FIELDS))
        return decided

    @in_transaction
    async def use(self, transaction: Transaction, approval: str, *, seq: int, now: datetime) -> Approval:  # noqa: ARG002 - the port's
        reference, stored = await self._read(transaction, approval)
        used = use_approval(stored, seq)
        if used is not stored:
            transaction.update(reference, documents.write_fields(used, "sent"))
        return used

    @in_transaction
    async def record_notice(self, transaction: Transaction, approval: str, notice: ApprovalNotice) -> ApprovalNotice:
        reference, stored = await self._read(transaction, approval)
        if is_settled(stored.notice, notice):
            return stored.notice
        transaction.update(reference, documents.write_fields(replace(stored, notice=notice), "notice"))
        return notice

    async def withdraw(self, execution: str, *, now: datetime) -> None:  # noqa: ARG002 - the port's
        query = filter_by(self._client.collection("approvals"), ("execution", "==", execution), PENDING).select([])
        for snapshot in await list_readable(query):
            await self._withdraw(snapshot.id)

    @in_transaction
    async def _withdraw(self, transaction: Transaction, approval: str) -> None:
        reference, stored = await self._read(transaction, approval)
        withdraw_stored(transaction, reference, stored)

    @in_transaction
    async def add_standing(self, transaction: Transaction, standing: StandingApproval, *, most: int) -> None:
        query = filter_by(self._client.collection("standing_approvals"), ("workspace", "==", standing.workspace))
        known = await documents.read_all(StandingApproval, query, transaction)
        if any(item.id == standing.id for item in known):
            return  # it was stored, and the answer was lost
        if sum(not item.is_over(standing.created_at) for item in known) >= most:
            raise TooManyStandingError
        document = {**documents.write(standing), EXPIRE_AT: standing.expires_at + STANDING_KEPT}
        transaction.create(self._places.locate_standing_approval(standing.id), document)

    async def list_standing(self, workspace: str) -> Sequence[StandingApproval]:
        query = filter_by(self._client.collection("standing_approvals"), ("workspace", "==", workspace))
        stored = [_read_standing(snapshot) for snapshot in await list_readable(query)]
        return sorted((item for item in stored if item is not None), key=lambda item: (item.created_at, item.id), reverse=True)

    @in_transaction
    async def revoke_standing(self, transaction: Transaction, workspace: str, standing: str) -> StandingApproval | None:
        reference = self._places.locate_standing_approval(standing)
        known = _read_standing(await reference.get(transaction=transaction))
        if known is None or known.workspace != workspace:
            return None
        transaction.update(reference, {"revoked": True})
        return replace(known, revoked=True)

    @in_transaction
    async def take_standing(self, transaction: Transaction, standing: str, *, execution: str, seq: int) -> StandingApproval:
        reference = self._places.locate_standing_approval(standing)
        known = _read_standing(await reference.get(transaction=transaction))
        if known is None:
            raise KeyError(standing)
        used = use_standing(known, execution, seq)
        if used is not known:
            transaction.update(reference, documents.write_fields(used, "used"))
        return used

    async def _read(self, transaction: Transaction, approval: str) -> tuple[Reference, Approval]:
        """Return an approval, with its place. Raise KeyError where there is none that can be read."""
        reference = self._places.locate_approval(approval)
        snapshot = await get_readable(reference, transaction)
        stored = None if snapshot is None else read_approval(snapshot)
        if stored is None:
            raise KeyError(approval)
        return reference, stored


def read_approval(snapshot: StoredDocument) -> Approval | None:
    """Return the approval in a document, without its form where that was not read; None where it holds none."""
    document = snapshot.to_dict() if snapshot.exists else None
    try:
        approval = None if document is None else documents.read(Approval, {"form": "", **document})
    except UnreadableDocumentError:
        return None
    return approval if approval is not None and approval.id == snapshot.id else None


def create_approval(transaction: Transaction, places: Places, approval: Approval, expiry: Mapping[str, Any]) -> None:
    """Create the document of an approval in a transaction."""
    transaction.create(places.locate_approval(approval.id), {**documents.write(approval), **expiry})


def withdraw_stored(transaction: Transaction, reference: Reference, approval: Approval) -> None:
    """Withdraw an approval that a transaction has read, where nobody has decided about it."""
    after = withdraw_approval(approval)
    if after is not approval:
        transaction.update(reference, documents.write_fields(after, "state"))


def _read_standing(snapshot: StoredDocument) -> StandingApproval | None:
    try:
        standing = documents.read_or_none(StandingApproval, snapshot)
    except UnreadableDocumentError:
        return None
    return standing if standing is not None and standing.id == snapshot.id else None
