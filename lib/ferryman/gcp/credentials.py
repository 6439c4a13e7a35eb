"""Sealed credentials in Firestore, of tasks and of the MCP servers of agents.

The former values of a credential are a document beside its own, since a TTL deletes whole documents: a value that nobody scans
for any longer disappears although no call ever comes, and so does what a deletion leaves to be scanned for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues, add_former
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.places import FORMER, TASKS
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, count_found, filter_by, in_transaction, read_together

VERSIONS = "credential_versions"
"""The field of a holder's document that holds the version which each credential must have, by name."""

NAMES = {TASKS: "a task"}
"""What a holder is called in messages, by its collection; any other one is an MCP server."""

FormerEnding = tuple[Reference, FormerValues | None]
"""Where former values are stored, and what is to be stored there; None where nothing changes."""


class FirestoreCredentials(FirestoreStore):
    """`ports.Credentials`, of the documents of one collection: the tasks, or `MCP_SERVERS`."""

    def __init__(self, clients: FirestoreClient, holders: str = TASKS) -> None:
        super().__init__(clients)
        self._holders = holders

    def _locate(self, holder: str) -> Reference:
        return self._places.locate_holder(self._holders, holder)

    async def read_versions(self, task: str) -> Mapping[str, int]:
        return read_versions((await self._locate(task).get()).to_dict())

    async def next_version(self, task: str, name: str) -> int:
        return (await self.read_versions(task)).get(name, 0) + 1

    @in_transaction
    async def put(self, transaction: Transaction, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None:
        label, task = sealed.label, self._locate(sealed.label.task)
        stored = (await task.get(transaction=transaction)).to_dict()
        if stored is None or read_versions(stored).get(label.name, 0) + 1 != label.version:
            raise StaleError("the credential was stored by somebody else meanwhile")
        ended = await self._read_ending(transaction, label.task, label.name, now=sealed.updated_at)
        if ended[1] is None:
            # the documents of former values have no label
            query = filter_by(task.collection("credentials"), ("label.task", "==", task.id))
            check_limit(
                await count_found(query, transaction), most, of="credentials", owner=NAMES.get(self._holders, "an MCP server")
            )
        transaction.update(task, {f"{VERSIONS}.{label.name}": label.version})
        _store_ending(transaction, ended)
        transaction.set(self._places.locate_credential(label.task, label.name, self._holders), documents.write(sealed))

    @in_transaction
    async def reseal(self, transaction: Transaction, before: SealedCredential, after: SealedCredential) -> bool:
        reference = self._places.locate_credential(before.label.task, before.label.name, self._holders)
        stored = (await reference.get(transaction=transaction)).to_dict() or {}
        if stored.get("ciphertext") != before.ciphertext:
            return False
        transaction.update(reference, documents.write_fields(after, "ciphertext", "key_version"))
        return True

    @in_transaction
    async def swap(self, transaction: Transaction, before: SealedCredential, after: SealedCredential) -> bool:
        label, task = before.label, self._locate(before.label.task)
        reference = self._places.locate_credential(label.task, label.name, self._holders)
        stored = (await reference.get(transaction=transaction)).to_dict()
        if stored is None or documents.read(SealedCredential, stored) != before:
            return False
        if after.label.version != label.version:
            known = read_versions((await task.get(transaction=transaction)).to_dict())
            if known.get(label.name, 0) + 1 != after.label.version:
                return False
            ended = await self._read_ending(transaction, label.task, label.name, now=after.updated_at)
            transaction.update(task, {f"{VERSIONS}.{label.name}": after.label.version})
            _store_ending(transaction, ended)
        transaction.set(reference, documents.write(after))
        return True

    async def list(self, task: str) -> Sequence[SealedCredential]:
        return (await self.read_all(task))[0]

    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]:
        collection = self._locate(task).collection("credentials")
        stored, ended = list[SealedCredential](), list[FormerValues]()
        async for snapshot in collection.stream():
            if snapshot.id.endswith(FORMER):
                ended.append(documents.read(FormerValues, snapshot.to_dict()))
            else:
                stored.append(documents.read(SealedCredential, snapshot.to_dict()))
        return stored, ended

    @in_transaction
    async def reseal_former(self, transaction: Transaction, before: FormerValues, after: FormerValues) -> bool:
        reference = self._places.locate_former(before.task, before.name, self._holders)
        if documents.read_or_none(FormerValues, await reference.get(transaction=transaction)) != before:
            return False
        if after.values:
            transaction.set(reference, _to_document(after))
        else:
            transaction.delete(reference)
        return True

    @in_transaction
    async def delete(self, transaction: Transaction, task: str, name: str, *, now: datetime) -> bool:
        ended = await self._read_ending(transaction, task, name, now=now)
        if ended[1] is None:
            return False
        stored = await self._locate(task).get(transaction=transaction)
        if stored.exists:  # a new version, so that nobody goes on with what was deleted
            version = read_versions(stored.to_dict()).get(name, 0) + 1
            transaction.update(stored.reference, {f"{VERSIONS}.{name}": version})
        _store_ending(transaction, ended)
        transaction.delete(self._places.locate_credential(task, name, self._holders))
        return True

    async def _read_ending(self, transaction: Transaction, task: str, name: str, *, now: datetime) -> FormerEnding:
        """Read what `transaction` has to write so that the credential's value, if it has one, becomes a former one `now`."""
        live_at = self._places.locate_credential(task, name, self._holders)
        former_at = self._places.locate_former(task, name, self._holders)
        snapshots = await read_together(self._client, [live_at, former_at], transaction)
        ended = documents.read_or_none(SealedCredential, snapshots[live_at.path])
        if ended is None:
            return former_at, None
        return former_at, add_former(documents.read_or_none(FormerValues, snapshots[former_at.path]), ended, now=now)


def read_versions(document: dict[str, Any] | None) -> dict[str, int]:
    """Return the credential versions on a task's document."""
    return dict((document or {}).get(VERSIONS, {}))


def _store_ending(transaction: Transaction, ending: FormerEnding) -> None:
    """Write what `_read_ending` read."""
    reference, former = ending
    if former is not None:
        transaction.set(reference, _to_document(former))


def _to_document(former: FormerValues) -> dict[str, Any]:
    """Return the document of `former`, with the oldest key version it needs, and when nothing in it is of use any longer."""
    return {**documents.write(former), "key_version": former.key_version, EXPIRE_AT: former.until}
