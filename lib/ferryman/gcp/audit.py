"""Audit entries in Firestore: a document each, which is never changed once it is done."""

from __future__ import annotations

from contextlib import suppress

from ferryman.domain.page import Page, Position
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.gcp import documents
from ferryman.gcp.pages import read_page
from ferryman.gcp.store import FirestoreStore, Snapshot, filter_by


class FirestoreAuditEntries(FirestoreStore):
    """`ports.AuditEntries`."""

    async def add(self, entry: AuditEntry) -> None:
        await self._places.locate_audit_entry(entry.id).set(documents.write(entry))

    async def end(self, entry: AuditEntry) -> None:
        from google.api_core.exceptions import NotFound

        with suppress(NotFound):  # its workspace was deleted meanwhile, with all entries
            await self._places.locate_audit_entry(entry.id).update(documents.write_fields(entry, "targets", "done"))

    async def forget(self, entry: AuditEntry) -> None:
        await self._places.locate_audit_entry(entry.id).delete()

    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int) -> Page[AuditEntry]:
        query = filter_by(self._client.collection("audit"), ("owner", "==", owner), ("workspace", "==", workspace))
        names = documents.name_fields(AuditEntry)
        return await read_page(query, _read, names=names, after=after, most=most, newest_first=True)


def _read(snapshot: Snapshot) -> AuditEntry | None:
    return documents.read_or_none(AuditEntry, snapshot)
