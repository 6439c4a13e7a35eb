"""Tasks and their sealed credentials in Firestore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.credential import Sealed
from ferryman.domain.task import Task
from ferryman.gcp import clusters, documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.ports import Stale

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction

VERSIONS = "credential_versions"
"""The field of a task's document that holds, by name, the version each credential must have."""


@translated
class FirestoreTasks:
    """`ports.Tasks`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def get(self, task: str) -> Task | None:
        snapshot = await places.task(self._clients.firestore(), task).get()
        return documents.read(Task, snapshot.to_dict()) if snapshot.exists else None

    async def create(self, task: Task) -> None:
        await documents.create(places.task(self._clients.firestore(), task.id), task)

    async def update(self, task: Task, fields: Collection[str], *, since: datetime) -> bool:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        reference = places.task(client, task.id)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> bool:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return False
            if snapshot.get("updated_at") != since:
                raise Stale("changed by somebody else")
            transaction.update(reference, documents.part(task, *fields, "updated_at"))
            return True

        return bool(await store(client.transaction()))

    async def count(self, owner: str) -> int:
        from google.cloud.firestore import FieldFilter

        query = self._clients.firestore().collection("tasks").where(filter=FieldFilter("owner", "==", owner))
        count: Any = query.count()
        return int((await count.get())[0][0].value)

    async def list(self, owner: str) -> Sequence[Task]:
        from google.cloud.firestore import FieldFilter

        query = self._clients.firestore().collection("tasks").where(filter=FieldFilter("owner", "==", owner))
        tasks = [documents.read(Task, snapshot.to_dict()) async for snapshot in query.stream()]
        return sorted(tasks, key=lambda task: (task.created_at, task.id))

    async def delete(self, task: str) -> bool:
        reference = places.task(self._clients.firestore(), task)
        snapshot = await reference.get()
        if not snapshot.exists:
            return False
        # the task first: what is left of its credentials belongs to nothing and opens for nobody
        await reference.delete()
        for belonging in ("credentials", "connections"):
            async for each in reference.collection(belonging).list_documents():
                await each.delete()
        async for each in reference.collection("clusters").list_documents():
            await clusters.cleared(each)
        return True


@translated
class FirestoreCredentials:
    """`ports.Credentials`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def next_version(self, task: str, name: str) -> int:
        snapshot = await places.task(self._clients.firestore(), task).get()
        return versions(snapshot.to_dict()).get(name, 0) + 1

    async def put(self, sealed: Sealed) -> None:
        from google.cloud.firestore import async_transactional

        client, label = self._clients.firestore(), sealed.label

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            task = places.task(client, label.task)
            snapshot = await task.get(transaction=transaction)
            if not snapshot.exists or versions(snapshot.to_dict()).get(label.name, 0) + 1 != label.version:
                raise Stale("the credential was stored by somebody else meanwhile")
            transaction.update(task, {f"{VERSIONS}.{label.name}": label.version})
            transaction.set(places.credential(client, label.task, label.name), documents.write(sealed))

        await store(client.transaction())

    async def reseal(self, before: Sealed, after: Sealed) -> bool:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        reference = places.credential(client, before.label.task, before.label.name)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict() or {}
            if stored.get("ciphertext") != before.ciphertext:
                return False
            transaction.update(reference, documents.part(after, "ciphertext", "key_version"))
            return True

        return bool(await store(client.transaction()))

    async def swap(self, before: Sealed, after: Sealed) -> bool:
        from google.cloud.firestore import async_transactional

        client, label = self._clients.firestore(), before.label
        task, reference = places.task(client, label.task), places.credential(client, label.task, label.name)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict()
            if stored is None or documents.read(Sealed, stored) != before:
                return False
            if after.label.version != label.version:
                known = versions((await task.get(transaction=transaction)).to_dict())
                if known.get(label.name, 0) + 1 != after.label.version:
                    return False
                transaction.update(task, {f"{VERSIONS}.{label.name}": after.label.version})
            transaction.set(reference, documents.write(after))
            return True

        return bool(await store(client.transaction()))

    async def list(self, task: str) -> Sequence[Sealed]:
        collection = places.task(self._clients.firestore(), task).collection("credentials")
        return [documents.read(Sealed, snapshot.to_dict()) async for snapshot in collection.stream()]

    async def delete(self, task: str, name: str) -> bool:
        reference = places.credential(self._clients.firestore(), task, name)
        snapshot = await reference.get()
        if snapshot.exists:
            await reference.delete()
        return bool(snapshot.exists)


def versions(document: dict[str, Any] | None) -> dict[str, int]:
    """The credential versions on a task's document."""
    return dict((document or {}).get(VERSIONS, {}))
