"""Quotas of files in Firestore: a document for each workspace, changed in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from ferryman.domain.calls.call import Ticket, check_answered
from ferryman.domain.files.quota import FileQuota, close_write, release_bytes, reserve_bytes, settle_writes
from ferryman.domain.files.writes import StoredWrite
from ferryman.gcp import documents
from ferryman.gcp.store import FirestoreStore, Transaction, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace
from ferryman.ports.file_quotas import AnsweredCall


class FirestoreFileQuotas(FirestoreStore):
    """`ports.FileQuotas`."""

    async def get(self, workspace: str) -> FileQuota:
        snapshot = await self._places.locate_file_quota(workspace).get()
        return documents.read_or_none(FileQuota, snapshot) or FileQuota(id=workspace)

    async def reserve(
        self,
        workspace: str,
        write: str,
        *,
        owner: str,
        size_bytes: int,
        limit_bytes: int,
        now: datetime,
        key: str = "",
        answered: AnsweredCall | None = None,
    ) -> FileQuota:
        def change(quota: FileQuota) -> FileQuota:
            return reserve_bytes(quota, write, size_bytes=size_bytes, limit_bytes=limit_bytes, now=now, key=key)

        return await self._change(workspace, change, owner, answered)

    async def settle(self, workspace: str, writes: Sequence[StoredWrite]) -> FileQuota:
        return await self._change(workspace, lambda quota: settle_writes(quota, writes), None)

    async def close(self, workspace: str, write: str, writes: Sequence[StoredWrite]) -> FileQuota:
        return await self._change(workspace, lambda quota: close_write(quota, write, writes), None)

    async def release(self, workspace: str, write: str) -> FileQuota:
        return await self._change(workspace, lambda quota: release_bytes(quota, write), None)

    @in_transaction
    async def _change(
        self,
        transaction: Transaction,
        workspace: str,
        change: Callable[[FileQuota], FileQuota],
        owner: str | None,
        answered: AnsweredCall | None = None,
    ) -> FileQuota:
        """Apply `change`, and store the result unless it is the same. `owner` has the workspace asked for, in the same read,
        and `answered` the call."""
        quota_at, workspace_at = self._places.locate_file_quota(workspace), self._places.locate_workspace(workspace)
        references = [quota_at] if owner is None else [quota_at, workspace_at]
        tickets = [] if answered is None else [self._places.locate_call(*answered)]
        snapshots = await read_together(self._client, [*references, *tickets], transaction)
        if owner is not None:
            check_workspace(snapshots[workspace_at.path], owner=owner)
        for ticket_at in tickets:
            check_answered(documents.read_or_none(Ticket, snapshots[ticket_at.path]))
        before = documents.read_or_none(FileQuota, snapshots[quota_at.path]) or FileQuota(id=workspace)
        after = change(before)
        if after is not before:
            transaction.set(quota_at, documents.write(after))
        return after
