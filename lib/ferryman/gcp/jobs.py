"""Jobs in Firestore: a document each, with a lease whose epoch is checked in the transaction of every write."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.changes import change_value
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.jobs import job as rules
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.workspaces.agent import AgentHasTasksError
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.gcp import documents, keyed
from ferryman.gcp.pages import read_page
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, filter_by, in_transaction

FIELDS = documents.name_fields(Job)


class FirestoreJobs(FirestoreStore):
    """`ports.Jobs`."""

    async def start(self, job: Job, *, spares_tasks: bool = False, done: Completion | None = None) -> None:
        await documents.confirm_created(self._start(job, spares_tasks, done), self._places.locate_job(job.id), job)

    @in_transaction
    async def _start(self, transaction: Transaction, job: Job, spares_tasks: bool, done: Completion | None) -> None:
        answered = await keyed.read_completion(transaction, self._places, done)
        reference = self._places.locate_job(job.id)
        if (await reference.get(transaction=transaction)).exists:
            return  # an earlier attempt was committed, and its answer lost
        if job.kind is JobKind.DELETE_WORKSPACE:
            transaction.update(*await self._close_workspace(transaction, job))
        elif job.kind is JobKind.DELETE_AGENT:
            agent_at = await self._find_agent(transaction, job)
            if spares_tasks and await self._has_tasks(transaction, job):
                raise AgentHasTasksError
            transaction.delete(agent_at)
        elif job.kind is JobKind.DELETE_CONVERSATION:
            transaction.update(*await self._close_conversation(transaction, job))
        transaction.create(reference, documents.write(job))
        keyed.store_completion(transaction, self._places, answered)

    async def _close_workspace(self, transaction: Transaction, job: Job) -> tuple[Reference, dict[str, Any]]:
        reference = self._places.locate_workspace(job.subject)
        stored = documents.read_or_none(Workspace, await reference.get(transaction=transaction))
        if stored is None or stored.owner != job.owner or stored.is_default or stored.state is WorkspaceState.DELETING:
            raise KeyError(job.subject)
        closed = change_value(stored, {"state": WorkspaceState.DELETING}, now=job.created_at)
        return reference, documents.write_fields(closed, "state", "updated_at")

    async def _close_conversation(self, transaction: Transaction, job: Job) -> tuple[Reference, dict[str, Any]]:
        reference = self._places.locate_conversation(job.subject)
        stored = documents.read_or_none(Conversation, await reference.get(transaction=transaction))
        if stored is None or (stored.owner, stored.workspace) != (job.owner, job.workspace) or stored.is_deleting:
            raise KeyError(job.subject)
        return reference, {"is_deleting": True}

    async def _find_agent(self, transaction: Transaction, job: Job) -> Reference:
        reference = self._places.locate_agent(job.subject)
        stored = (await reference.get(transaction=transaction)).to_dict() or {}
        place = (stored.get("owner"), stored.get("workspace"))
        if place != (job.owner, job.workspace) or job.subject == derive_default_agent(job.workspace):
            raise KeyError(job.subject)
        return reference

    async def _has_tasks(self, transaction: Transaction, job: Job) -> bool:
        conditions = (("workspace", "==", job.workspace), ("agent", "==", job.subject))
        query = filter_by(self._client.collection("tasks"), *conditions).select(["agent"]).limit(1)
        return bool([snapshot async for snapshot in query.stream(transaction=transaction)])

    async def get(self, job: str) -> Job | None:
        return documents.read_or_none(Job, await self._places.locate_job(job).get())

    async def find(self, owner: str, *, workspace: str, subject: str) -> Job | None:
        # equalities alone need no index of their own; there is one for each time that somebody left
        query = filter_by(self._client.collection("jobs"), ("workspace", "==", workspace), ("subject", "==", subject))
        known = [job for job in await documents.read_all(Job, query) if job.owner == owner]
        return max(known, key=lambda job: (job.created_at, job.id), default=None)

    async def list(
        self, owner: str, *, workspace: str | None = None, after: Position | None = None, most: int = 50
    ) -> Page[Job]:
        condition = ("owner", "==", owner) if workspace is None else ("workspace", "==", workspace)
        query = filter_by(self._client.collection("jobs"), condition)
        return await read_page(query, _read_job, names=FIELDS, after=after, most=most, newest_first=True)

    @in_transaction
    async def claim(
        self, transaction: Transaction, job: str, *, slice: int, holder: str, now: datetime, lease: timedelta
    ) -> tuple[Job, bool]:
        reference = self._places.locate_job(job)
        current = documents.read(Job, (await reference.get(transaction=transaction)).to_dict())
        claimed = rules.acquire_job(current, slice=slice, holder=holder, now=now, length=lease)
        if claimed is None:
            return current, False
        transaction.update(reference, documents.write_fields(claimed, "status", "lease"))
        return claimed, True

    @in_transaction
    async def hand_over(self, transaction: Transaction, job: Job, *, now: datetime) -> int:
        reference = self._places.locate_job(job.id)
        stored = documents.read_or_none(Job, await reference.get(transaction=transaction))
        after = rules.hand_over_job(rules.check_job(stored, job, now), now)
        transaction.update(reference, documents.write_fields(after, "slice", "lease"))
        return after.slice


def _read_job(snapshot: Snapshot) -> Job | None:
    return documents.read_or_none(Job, snapshot)
