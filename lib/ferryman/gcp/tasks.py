"""Tasks and their sealed credentials in Firestore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues
from ferryman.domain.owners import limit
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.schedule import SCHEDULED_PER_OWNER_MAX, ScheduleType
from ferryman.domain.tasks.task import TASKS_PER_OWNER_MAX, Task
from ferryman.gcp import clusters, documents, former, keyed, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.transactions import transact

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, AsyncQuery, AsyncTransaction

VERSIONS = "credential_versions"
"""The field of a task's document that holds, by name, the version each credential must have."""


@translate_errors
class FirestoreTasks:
    """`ports.Tasks`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def get(self, task: str) -> Task | None:
        snapshot = await places.locate_task(self._clients.firestore(), task).get()
        return documents.read(Task, snapshot.to_dict()) if snapshot.exists else None

    async def create(
        self,
        task: Task,
        *,
        most: int = TASKS_PER_OWNER_MAX,
        scheduled: int = SCHEDULED_PER_OWNER_MAX,
        done: Completion | None = None,
    ) -> None:
        client = self._clients.firestore()
        reference = places.locate_task(client, task.id)

        async def store(transaction: AsyncTransaction) -> None:
            answered = await keyed.read_completion(transaction, client, done)
            there = (await reference.get(transaction=transaction)).to_dict()
            if there is not None:
                if (there.get("owner"), there.get("created_at")) == (task.owner, task.created_at):
                    return  # an attempt before this one was committed, unheard
                raise ValueError("the task is there already")
            limit.check_tasks(await _count(_query_owned(client, task.owner), transaction), most)
            if task.schedule is not None:
                limit.check_scheduled(await _count(_query_scheduled(client, task.owner), transaction), scheduled)
            transaction.create(reference, documents.write(task))
            keyed.store_completion(transaction, client, answered)

        await documents.confirm_created(transact(client.transaction(), store), reference, task)

    async def update(
        self, task: Task, fields: Collection[str], *, since: datetime, scheduled: int = SCHEDULED_PER_OWNER_MAX
    ) -> bool:
        client = self._clients.firestore()
        reference = places.locate_task(client, task.id)

        async def store(transaction: AsyncTransaction) -> bool:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return False
            if snapshot.get("updated_at") != since:
                raise StaleError("changed by somebody else")
            if "schedule" in fields and task.schedule is not None and snapshot.get("schedule") is None:
                limit.check_scheduled(await _count(_query_scheduled(client, task.owner), transaction), scheduled)
            transaction.update(reference, documents.write_fields(task, *fields, "updated_at"))
            return True

        return await transact(client.transaction(), store)

    async def list(self, owner: str) -> Sequence[Task]:
        query = _query_owned(self._clients.firestore(), owner)
        tasks = [documents.read(Task, snapshot.to_dict()) async for snapshot in query.stream()]
        return sorted(tasks, key=lambda task: (task.created_at, task.id))

    async def delete(self, task: str) -> bool:
        reference = places.locate_task(self._clients.firestore(), task)
        snapshot = await reference.get()
        if not snapshot.exists:
            return False
        # the task first: what is left of its credentials belongs to nothing and opens for nobody
        await reference.delete()
        for belonging in ("credentials", "connections"):
            async for each in reference.collection(belonging).list_documents():
                await each.delete()
        async for each in reference.collection("clusters").list_documents():
            await clusters.delete_cluster(each)
        return True


@translate_errors
class FirestoreCredentials:
    """`ports.Credentials`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def next_version(self, task: str, name: str) -> int:
        snapshot = await places.locate_task(self._clients.firestore(), task).get()
        return read_versions(snapshot.to_dict()).get(name, 0) + 1

    async def put(self, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None:
        client, label = self._clients.firestore(), sealed.label

        async def store(transaction: AsyncTransaction) -> None:
            task = places.locate_task(client, label.task)
            stored = (await task.get(transaction=transaction)).to_dict()
            if stored is None or read_versions(stored).get(label.name, 0) + 1 != label.version:
                raise StaleError("the credential was stored by somebody else meanwhile")
            ended = await former.read_ending(transaction, client, label.task, label.name, now=sealed.updated_at)
            if ended[1] is None:
                limit.check_credentials(await _count(_query_credentials(task), transaction), most)
            transaction.update(task, {f"{VERSIONS}.{label.name}": label.version})
            former.store_ending(transaction, ended)
            transaction.set(places.locate_credential(client, label.task, label.name), documents.write(sealed))

        await transact(client.transaction(), store)

    async def reseal(self, before: SealedCredential, after: SealedCredential) -> bool:
        client = self._clients.firestore()
        reference = places.locate_credential(client, before.label.task, before.label.name)

        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict() or {}
            if stored.get("ciphertext") != before.ciphertext:
                return False
            transaction.update(reference, documents.write_fields(after, "ciphertext", "key_version"))
            return True

        return await transact(client.transaction(), store)

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        client, label = self._clients.firestore(), before.label
        task, reference = places.locate_task(client, label.task), places.locate_credential(client, label.task, label.name)

        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict()
            if stored is None or documents.read(SealedCredential, stored) != before:
                return False
            if after.label.version != label.version:
                known = read_versions((await task.get(transaction=transaction)).to_dict())
                if known.get(label.name, 0) + 1 != after.label.version:
                    return False
                ended = await former.read_ending(transaction, client, label.task, label.name, now=after.updated_at)
                transaction.update(task, {f"{VERSIONS}.{label.name}": after.label.version})
                former.store_ending(transaction, ended)
            transaction.set(reference, documents.write(after))
            return True

        return await transact(client.transaction(), store)

    async def list(self, task: str) -> Sequence[SealedCredential]:
        return (await self.read_all(task))[0]

    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]:
        collection = places.locate_task(self._clients.firestore(), task).collection("credentials")
        stored, ended = list[SealedCredential](), list[FormerValues]()
        async for snapshot in collection.stream():
            if snapshot.id.endswith(places.FORMER):
                ended.append(documents.read(FormerValues, snapshot.to_dict()))
            else:
                stored.append(documents.read(SealedCredential, snapshot.to_dict()))
        return stored, ended

    async def reseal_former(self, before: FormerValues, after: FormerValues) -> bool:
        return await former.replace_former(self._clients.firestore(), before, after)

    async def delete(self, task: str, name: str, *, now: datetime) -> bool:
        client = self._clients.firestore()

        async def remove(transaction: AsyncTransaction) -> bool:
            ended = await former.read_ending(transaction, client, task, name, now=now)
            if ended[1] is None:
                return False
            former.store_ending(transaction, ended)
            transaction.delete(places.locate_credential(client, task, name))
            return True

        return await transact(client.transaction(), remove)


def _query_owned(client: AsyncClient, owner: str) -> AsyncQuery:
    from google.cloud.firestore import FieldFilter

    return client.collection("tasks").where(filter=FieldFilter("owner", "==", owner))


def _query_scheduled(client: AsyncClient, owner: str) -> AsyncQuery:
    from google.cloud.firestore import FieldFilter

    return _query_owned(client, owner).where(filter=FieldFilter("schedule.type", "in", [each.value for each in ScheduleType]))


def _query_credentials(task: AsyncDocumentReference) -> AsyncQuery:
    from google.cloud.firestore import FieldFilter

    # the documents of former values have no label
    query: AsyncQuery = task.collection("credentials").where(filter=FieldFilter("label.task", "==", task.id))
    return query


async def _count(query: AsyncQuery, transaction: AsyncTransaction) -> int:
    """How many documents `query` finds. Who adds one to them meanwhile has the transaction run again."""
    count: Any = query.count()
    return int((await count.get(transaction=transaction))[0][0].value)


def read_versions(document: dict[str, Any] | None) -> dict[str, int]:
    """The credential versions on a task's document."""
    return dict((document or {}).get(VERSIONS, {}))
