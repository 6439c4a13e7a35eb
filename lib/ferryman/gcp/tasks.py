"""Tasks and their sealed credentials in Firestore.

The former values of a credential are a document beside its own, since a TTL deletes whole documents: a value that nobody scans
for any longer disappears although no call ever comes, and so does what a deletion leaves to be scanned for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.credential import CREDENTIALS_PER_TASK_MAX, SealedCredential
from ferryman.domain.credentials.former import FormerValues, add_former
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.page import Page, Position
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.schedule import SCHEDULED_PER_OWNER_MAX, ScheduleType
from ferryman.domain.tasks.task import ALL_TASKS, TASKS_PER_OWNER_MAX, Task, TaskFilter, TaskSummary
from ferryman.domain.workspaces.agent import GOES_WITH_AGENT, AgentGoneError
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.gcp import clusters, documents, keyed
from ferryman.gcp.agents import read_agent
from ferryman.gcp.pages import read_page
from ferryman.gcp.places import FORMER, Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace

VERSIONS = "credential_versions"
"""The field of a task's document that holds the version which each credential must have, by name."""

FormerEnding = tuple[Reference, FormerValues | None]
"""Where former values are stored, and what is to be stored there; None where nothing changes."""


class FirestoreTasks(FirestoreStore):
    """`ports.Tasks`."""

    async def get(self, task: str) -> Task | None:
        return documents.read_or_none(Task, await self._places.locate_task(task).get())

    async def create(
        self,
        task: Task,
        *,
        most: int = TASKS_PER_OWNER_MAX,
        scheduled: int = SCHEDULED_PER_OWNER_MAX,
        done: Completion | None = None,
    ) -> None:
        reference = self._places.locate_task(task.id)
        await documents.confirm_created(self._create(task, most, scheduled, done), reference, task)

    @in_transaction
    async def _create(self, transaction: Transaction, task: Task, most: int, scheduled: int, done: Completion | None) -> None:
        answered = await keyed.read_completion(transaction, self._places, done)
        reference, workspace_at = self._places.locate_task(task.id), self._places.locate_workspace(task.workspace)
        snapshots = await read_together(self._client, [reference, workspace_at], transaction)
        stored = snapshots[reference.path].to_dict()
        if stored is not None:
            if (stored.get("owner"), stored.get("created_at")) == (task.owner, task.created_at):
                return  # an earlier attempt was committed, and its answer lost
            raise ValueError("the task exists already")
        check_workspace(snapshots[workspace_at.path], owner=task.owner)
        if not await self._has_agent(transaction, task):
            raise AgentGoneError
        check_limit(await _count(self._query_owned(task.owner), transaction), most, of="tasks")
        if task.schedule is not None:
            await self._check_scheduled(transaction, task.owner, scheduled)
        transaction.create(reference, documents.write(task))
        keyed.store_completion(transaction, self._places, answered)

    @in_transaction
    async def update(
        self,
        transaction: Transaction,
        task: Task,
        fields: Collection[str],
        *,
        since: datetime,
        scheduled: int = SCHEDULED_PER_OWNER_MAX,
    ) -> bool:
        reference = self._places.locate_task(task.id)
        snapshot = await reference.get(transaction=transaction)
        if not snapshot.exists:
            return False
        if snapshot.get("updated_at") != since:
            raise StaleError("changed by somebody else")
        if "agent" in fields:
            if not await self._has_agent(transaction, documents.read(Task, snapshot.to_dict())):
                raise StaleError(GOES_WITH_AGENT)
            if not await self._has_agent(transaction, task):
                raise AgentGoneError
        if "schedule" in fields and task.schedule is not None and snapshot.get("schedule") is None:
            await self._check_scheduled(transaction, task.owner, scheduled)
        transaction.update(reference, documents.write_fields(task, *fields, "updated_at"))
        return True

    async def list(
        self,
        workspace: str,
        *,
        which: TaskFilter = ALL_TASKS,
        after: Position | None = None,
        most: int = TASKS_PER_OWNER_MAX,
    ) -> Page[TaskSummary]:
        query = filter_by(self._client.collection("tasks"), ("workspace", "==", workspace))
        for name, value in (("agent", which.agent), ("enabled", which.enabled), ("name", which.name)):
            if value is not None:
                query = filter_by(query, (name, "==", value))
        return await read_page(query, _read_summary, names=documents.name_fields(TaskSummary), after=after, most=most)

    async def delete(self, task: str) -> bool:
        reference = self._places.locate_task(task)
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

    async def _has_agent(self, transaction: Transaction, task: Task) -> bool:
        """Tell whether the agent of `task` is there; the default one of a workspace always is."""
        if task.agent == derive_default_agent(task.workspace):
            return True
        snapshot = await self._places.locate_agent(task.agent).get(transaction=transaction)
        return read_agent(snapshot, owner=task.owner, workspace=task.workspace) is not None

    async def _check_scheduled(self, transaction: Transaction, owner: str, most: int) -> None:
        """Raise `LimitReachedError` where the owner has `most` tasks with a schedule."""
        types = [kind.value for kind in ScheduleType]
        query = filter_by(self._query_owned(owner), ("schedule.type", "in", types))
        check_limit(await _count(query, transaction), most, of="scheduled tasks")

    def _query_owned(self, owner: str) -> Any:
        return filter_by(self._client.collection("tasks"), ("owner", "==", owner))


class FirestoreCredentials(FirestoreStore):
    """`ports.Credentials`."""

    async def next_version(self, task: str, name: str) -> int:
        snapshot = await self._places.locate_task(task).get()
        return read_versions(snapshot.to_dict()).get(name, 0) + 1

    @in_transaction
    async def put(self, transaction: Transaction, sealed: SealedCredential, *, most: int = CREDENTIALS_PER_TASK_MAX) -> None:
        label, task = sealed.label, self._places.locate_task(sealed.label.task)
        stored = (await task.get(transaction=transaction)).to_dict()
        if stored is None or read_versions(stored).get(label.name, 0) + 1 != label.version:
            raise StaleError("the credential was stored by somebody else meanwhile")
        ended = await _read_ending(transaction, self._places, label.task, label.name, now=sealed.updated_at)
        if ended[1] is None:
            # the documents of former values have no label
            query = filter_by(task.collection("credentials"), ("label.task", "==", task.id))
            check_limit(await _count(query, transaction), most, of="credentials", owner="a task")
        transaction.update(task, {f"{VERSIONS}.{label.name}": label.version})
        _store_ending(transaction, ended)
        transaction.set(self._places.locate_credential(label.task, label.name), documents.write(sealed))

    @in_transaction
    async def reseal(self, transaction: Transaction, before: SealedCredential, after: SealedCredential) -> bool:
        reference = self._places.locate_credential(before.label.task, before.label.name)
        stored = (await reference.get(transaction=transaction)).to_dict() or {}
        if stored.get("ciphertext") != before.ciphertext:
            return False
        transaction.update(reference, documents.write_fields(after, "ciphertext", "key_version"))
        return True

    @in_transaction
    async def swap(self, transaction: Transaction, before: SealedCredential, after: SealedCredential) -> bool:
        label, task = before.label, self._places.locate_task(before.label.task)
        reference = self._places.locate_credential(label.task, label.name)
        stored = (await reference.get(transaction=transaction)).to_dict()
        if stored is None or documents.read(SealedCredential, stored) != before:
            return False
        if after.label.version != label.version:
            known = read_versions((await task.get(transaction=transaction)).to_dict())
            if known.get(label.name, 0) + 1 != after.label.version:
                return False
            ended = await _read_ending(transaction, self._places, label.task, label.name, now=after.updated_at)
            transaction.update(task, {f"{VERSIONS}.{label.name}": after.label.version})
            _store_ending(transaction, ended)
        transaction.set(reference, documents.write(after))
        return True

    async def list(self, task: str) -> Sequence[SealedCredential]:
        return (await self.read_all(task))[0]

    async def read_all(self, task: str) -> tuple[Sequence[SealedCredential], Sequence[FormerValues]]:
        collection = self._places.locate_task(task).collection("credentials")
        stored, ended = list[SealedCredential](), list[FormerValues]()
        async for snapshot in collection.stream():
            if snapshot.id.endswith(FORMER):
                ended.append(documents.read(FormerValues, snapshot.to_dict()))
            else:
                stored.append(documents.read(SealedCredential, snapshot.to_dict()))
        return stored, ended

    @in_transaction
    async def reseal_former(self, transaction: Transaction, before: FormerValues, after: FormerValues) -> bool:
        reference = self._places.locate_former(before.task, before.name)
        if documents.read_or_none(FormerValues, await reference.get(transaction=transaction)) != before:
            return False
        if after.values:
            transaction.set(reference, _to_document(after))
        else:
            transaction.delete(reference)
        return True

    @in_transaction
    async def delete(self, transaction: Transaction, task: str, name: str, *, now: datetime) -> bool:
        ended = await _read_ending(transaction, self._places, task, name, now=now)
        if ended[1] is None:
            return False
        stored = await self._places.locate_task(task).get(transaction=transaction)
        if stored.exists:  # a new version, so that nobody goes on with what was deleted
            version = read_versions(stored.to_dict()).get(name, 0) + 1
            transaction.update(stored.reference, {f"{VERSIONS}.{name}": version})
        _store_ending(transaction, ended)
        transaction.delete(self._places.locate_credential(task, name))
        return True


def _read_summary(snapshot: Snapshot) -> TaskSummary | None:
    try:
        task = documents.read_or_none(TaskSummary, snapshot)
    except documents.UnreadableDocumentError:
        return None
    return task if task is not None and task.id == snapshot.id else None


async def _count(query: Any, transaction: Transaction) -> int:
    """Count the documents that `query` finds. Where another transaction adds one meanwhile, this one runs again."""
    return int((await query.count().get(transaction=transaction))[0][0].value)


def read_versions(document: dict[str, Any] | None) -> dict[str, int]:
    """Return the credential versions on a task's document."""
    return dict((document or {}).get(VERSIONS, {}))


async def _read_ending(transaction: Transaction, places: Places, task: str, name: str, *, now: datetime) -> FormerEnding:
    """Read what `transaction` has to write so that the credential's value, if it has one, becomes a former one `now`."""
    live_at, former_at = places.locate_credential(task, name), places.locate_former(task, name)
    snapshots = await read_together(places.client, [live_at, former_at], transaction)
    ended = documents.read_or_none(SealedCredential, snapshots[live_at.path])
    if ended is None:
        return former_at, None
    return former_at, add_former(documents.read_or_none(FormerValues, snapshots[former_at.path]), ended, now=now)


def _store_ending(transaction: Transaction, ending: FormerEnding) -> None:
    """Write what `_read_ending` read."""
    reference, former = ending
    if former is not None:
        transaction.set(reference, _to_document(former))


def _to_document(former: FormerValues) -> dict[str, Any]:
    """Return the document of `former`, with the oldest key version it needs, and when nothing in it is of use any longer."""
    return {**documents.write(former), "key_version": former.key_version, EXPIRE_AT: former.until}
