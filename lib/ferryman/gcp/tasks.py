"""Tasks and their sealed credentials in Firestore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.schedule import SCHEDULED_PER_OWNER_MAX, ScheduleType
from ferryman.domain.tasks.task import TASKS_PER_OWNER_MAX, Task
from ferryman.gcp import clusters, documents, former, keyed, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.store import FirestoreStore, filter_by

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, AsyncQuery, AsyncTransaction

VERSIONS = "credential_versions"
"""The field of a task's document that holds the version which each credential must have, by name."""


@translate_errors
class FirestoreTasks(FirestoreStore):
    """`ports.Tasks`."""

    async def get(self, task: str) -> Task | None:
        return documents.read_or_none(Task, await places.locate_task(self._client, task).get())

    async def create(
        self,
        task: Task,
        *,
        most: int = TASKS_PER_OWNER_MAX,
        scheduled: int = SCHEDULED_PER_OWNER_MAX,
        done: Completion | None = None,
    ) -> None:
        client = self._client
        reference = places.locate_task(client, task.id)

        async def store(transaction: AsyncTransaction) -> None:
            answered = await keyed.read_completion(transaction, client, done)
            stored = (await reference.get(transaction=transaction)).to_dict()
            if stored is not None:
                if (stored.get("owner"), stored.get("created_at")) == (task.owner, task.created_at):
                    return  # an earlier attempt was committed, and its answer lost
                raise ValueError("the task exists already")
            check_limit(await _count(_query_owned(client, task.owner), transaction), most, of="tasks")
            if task.schedule is not None:
                check_limit(await _count(_query_scheduled(client, task.owner), transaction), scheduled, of="scheduled tasks")
            transaction.create(reference, documents.write(task))
            keyed.store_completion(transaction, client, answered)

        await documents.confirm_created(self._transact(store), reference, task)

    async def update(
        self, task: Task, fields: Collection[str], *, since: datetime, scheduled: int = SCHEDULED_PER_OWNER_MAX
    ) -> bool:
        client = self._client
        reference = places.locate_task(client, task.id)

        async def store(transaction: AsyncTransaction) -> bool:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return False
            if snapshot.get("updated_at") != since:
                raise StaleError("changed by somebody else")
            if "schedule" in fields and task.schedule is not None and snapshot.get("schedule") is None:
                check_limit(await _count(_query_scheduled(client, task.owner), transaction), scheduled, of="scheduled tasks")
            transaction.update(reference, documents.write_fields(task, *fields, "updated_at"))
            return True

        return await self._transact(store)

    async def list(self, owner: str) -> Sequence[Task]:
        tasks = await documents.read_all(Task, _query_owned(self._client, owner))
        return sorted(tasks, key=lambda task: (task.created_at, task.id))

    async def delete(self, task: str) -> bool:
        reference = places.locate_task(self._client, task)
        snapshot = await reference.get()
        if not snapshot.exists:
            return False
        # the task first: what is left of its credentials belongs to no task, and is opened for nobody
        await reference.delete()
        for belonging in ("credentials", "connections"):
            async for document_at in reference.collection(belonging).list_documents():
                await document_at.delete()
        async for cluster_at in reference.collection("clusters").list_documents():
            await clusters.delete_cluster(cluster_at)
        return True


@translate_errors
class FirestoreCredentials(FirestoreStore):
    """`ports.Credentials`."""

    async def next_version(self, task: str, name: str) -> int:
        snapshot = await places.locate_task(self._client, task).get()
        return read_versions(snapshot.to_dict()).get(name, 0) + 1

    async def put(self, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None:
        client, label = self._client, sealed.label

        async def store(transaction: AsyncTransaction) -> None:
            task = places.locate_task(client, label.task)
            stored = (await task.get(transaction=transaction)).to_dict()
            if stored is None or read_versions(stored).get(label.name, 0) + 1 != label.version:
                raise StaleError("the credential was stored by somebody else meanwhile")
            ended = await former.read_ending(transaction, client, label.task, label.name, now=sealed.updated_at)
            if ended[1] is None:
                check_limit(await _count(_query_credentials(task), transaction), most, of="credentials", owner="a task")
            transaction.update(task, {f"{VERSIONS}.{label.name}": label.version})
            former.store_ending(transaction, ended)
            transaction.set(places.locate_credential(client, label.task, label.name), documents.write(sealed))

        await self._transact(store)

    async def reseal(self, before: SealedCredential, after: SealedCredential) -> bool:
        client = self._client
        reference = places.locate_credential(client, before.label.task, before.label.name)

        async def store(transaction: AsyncTransaction) -> bool:
            stored = (await reference.get(transaction=transaction)).to_dict() or {}
            if stored.get("ciphertext") != before.ciphertext:
                return False
            transaction.update(reference, documents.write_fields(after, "ciphertext", "key_version"))
            return True

        return await self._transact(store)

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        client, label = self._client, before.label
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

        return await self._transact(store)

    async def list(self, task: str) -> Sequence[SealedCredential]:
        return (await self.read_all(task))[0]

    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]:
        collection = places.locate_task(self._client, task).collection("credentials")
        stored, ended = list[SealedCredential](), list[FormerValues]()
        async for snapshot in collection.stream():
            if snapshot.id.endswith(places.FORMER):
                ended.append(documents.read(FormerValues, snapshot.to_dict()))
            else:
                stored.append(documents.read(SealedCredential, snapshot.to_dict()))
        return stored, ended

    async def reseal_former(self, before: FormerValues, after: FormerValues) -> bool:
        return await former.replace_former(self._client, before, after)

    async def delete(self, task: str, name: str, *, now: datetime) -> bool:
        client = self._client

        async def remove(transaction: AsyncTransaction) -> bool:
            ended = await former.read_ending(transaction, client, task, name, now=now)
            if ended[1] is None:
                return False
            former.store_ending(transaction, ended)
            transaction.delete(places.locate_credential(client, task, name))
            return True

        return await self._transact(remove)


def _query_owned(client: AsyncClient, owner: str) -> AsyncQuery:
    query: AsyncQuery = filter_by(client.collection("tasks"), ("owner", "==", owner))
    return query


def _query_scheduled(client: AsyncClient, owner: str) -> AsyncQuery:
    types = [kind.value for kind in ScheduleType]
    query: AsyncQuery = filter_by(_query_owned(client, owner), ("schedule.type", "in", types))
    return query


def _query_credentials(task: AsyncDocumentReference) -> AsyncQuery:
    # the documents of former values have no label
    query: AsyncQuery = filter_by(task.collection("credentials"), ("label.task", "==", task.id))
    return query


async def _count(query: AsyncQuery, transaction: AsyncTransaction) -> int:
    """Count the documents that `query` finds. Where another transaction adds one meanwhile, this one runs again."""
    count: Any = query.count()
    return int((await count.get(transaction=transaction))[0][0].value)


def read_versions(document: dict[str, Any] | None) -> dict[str, int]:
    """Return the credential versions on a task's document."""
    return dict((document or {}).get(VERSIONS, {}))
