"""Tasks in Firestore."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

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
from ferryman.gcp.store import FirestoreStore, Snapshot, Transaction, count_found, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace


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
        check_limit(await count_found(self._query_owned(task.owner), transaction), most, of="tasks")
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
        check_limit(await count_found(query, transaction), most, of="scheduled tasks")

    def _query_owned(self, owner: str) -> Any:
        return filter_by(self._client.collection("tasks"), ("owner", "==", owner))


def _read_summary(snapshot: Snapshot) -> TaskSummary | None:
    try:
        task = documents.read_or_none(TaskSummary, snapshot)
    except documents.UnreadableDocumentError:
        return None
    return task if task is not None and task.id == snapshot.id else None
