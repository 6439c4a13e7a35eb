"""What a job changes in Firestore: each commit checks the job's lease, and counts what it deletes in the same transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.credits.alert_message import SECRET_NAME
from ferryman.domain.credits.balance import CreditBalance, forget_parts, name_owner_balance
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.jobs import job as rules
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import EXECUTIONS, MEMBERS, REFUSED, TASKS, WorkspacePart
from ferryman.domain.jobs.scope import concerns, list_subject_parts, name_balance_part, name_scope
from ferryman.gcp import documents, occupancy
from ferryman.gcp.belongings import count_as, list_below
from ferryman.gcp.execution_documents import IMPORTING, IS_EXECUTION, IS_REFUSED, read_execution
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, filter_by, in_transaction, read_together
from ferryman.ports.jobs import JobProgress

AT_ONCE = 20
"""How many documents that may have others below them are looked at in one commit."""

OF_TASKS = ("tokens", "standing_approvals")
"""The collections, and what their documents are counted as, of which a task's are deleted with it."""

KINDS = {EXECUTIONS: IS_EXECUTION, REFUSED: IS_REFUSED}
"""The parts that share a collection, each with the condition that tells which of its documents they are."""

PROGRESS = ("stage", "counts", "lease")
ENDED = frozenset(status.value for status in Status if status.terminal)


@dataclass
class _Batch:
    """What one commit deletes, at most `most` documents."""

    most: int
    references: list[Reference] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    balance_parts: set[str] = field(default_factory=set)

    @property
    def room(self) -> int:
        return self.most - len(self.references)

    def add(self, reference: Reference, name: str) -> None:
        self.references.append(reference)
        if name:
            self.counts[name] += 1


class FirestoreJobWork(FirestoreStore):
    """`ports.JobWork`."""

    async def unended(self, job: Job) -> Sequence[Execution]:
        stored = occupancy.read_occupancy(await self._places.locate_occupancy(job.owner).get())
        names = sorted({*stored.queued, *stored.running, *stored.suspended})
        if not names:
            return ()
        snapshots = await read_together(self._client, [self._places.locate_execution(name) for name in names])
        known = [read_execution(snapshot) for snapshot in snapshots.values()]
        return [item for item in known if item is not None and not item.status.terminal and concerns(job, item)]

    @in_transaction
    async def disable_tasks(
        self, transaction: Transaction, job: Job, *, most: int, now: datetime, lease: timedelta
    ) -> JobProgress:
        current = await self._check(transaction, job, now, lease)
        query = filter_by(self._query(job, TASKS), ("enabled", "==", True)).select(["enabled"]).limit(most)
        tasks = [snapshot.reference async for snapshot in query.stream(transaction=transaction)]
        for reference in tasks:
            transaction.update(reference, {"enabled": False})
        transaction.update(self._places.locate_job(job.id), documents.write_fields(current, "lease"))
        return JobProgress(current, len(tasks) == most)

    @in_transaction
    async def delete(
        self, transaction: Transaction, job: Job, part: WorkspacePart, *, most: int, now: datetime, lease: timedelta
    ) -> JobProgress:
        current, batch = await self._check(transaction, job, now, lease), _Batch(most)
        at_once = min(most, AT_ONCE if part.below else most)
        query = self._query(job, part).select(["status", "person", IMPORTING]).limit(at_once)
        parents = [snapshot async for snapshot in query.stream(transaction=transaction)]
        for snapshot in parents:
            is_ended = part is not EXECUTIONS or (snapshot.to_dict() or {}).get("status") in ENDED
            if batch.room > 0 and is_ended and await self._collect_below(transaction, snapshot, part, batch):
                # an execution that an import had only announced is neither one nor a refused request
                batch.add(snapshot.reference, "" if IMPORTING in (snapshot.to_dict() or {}) else part.name)
                name = snapshot.get("person") if part is MEMBERS else snapshot.id
                batch.balance_parts |= {name_balance_part(job, part, name) or ""} - {""}
        await self._forget_parts(transaction, job, batch.balance_parts)
        for reference in batch.references:
            transaction.delete(reference)
        after = current.add_counts(part.name, batch.counts)
        transaction.update(self._places.locate_job(job.id), documents.write_fields(after, *PROGRESS))
        is_more = batch.room <= 0 or (len(parents) == at_once and bool(batch.references))
        return JobProgress(after, is_more)

    async def _forget_parts(self, transaction: Transaction, job: Job, names: Collection[str]) -> None:
        """Remove parts of the owner's balance: of what is deleted in `transaction`, which has read all it needs besides."""
        if not names:
            return
        balance_at = self._places.locate_balance(name_owner_balance(job.owner))
        stored = documents.read_or_none(CreditBalance, await balance_at.get(transaction=transaction))
        if stored is not None and (after := forget_parts(stored, names)) is not stored:
            transaction.update(balance_at, documents.write_fields(after, "parts"))

    async def _collect_below(self, transaction: Transaction, snapshot: Snapshot, part: WorkspacePart, batch: _Batch) -> bool:
        """Add what belongs to a document as far as there is room. Return whether that was all, and there is room for it."""
        parent = snapshot.reference
        for collection in part.below:
            async for reference in list_below(parent, collection, transaction, most=batch.room + 1):
                if batch.room <= 0:
                    return False
                batch.add(reference, count_as(reference))
        for name in OF_TASKS if part is TASKS else ():
            if batch.room > 0:
                of_task = filter_by(self._client.collection(name), ("task", "==", parent.id)).select(["task"])
                async for document in of_task.limit(batch.room).stream(transaction=transaction):
                    batch.add(document.reference, name)
        if part is MEMBERS and batch.room > 0:
            person = snapshot.get("person")
            everywhere = filter_by(self._client.collection("memberships"), ("person", "==", person)).select(["person"]).limit(2)
            if len([known async for known in everywhere.stream(transaction=transaction)]) == 1:
                # in the commit that ends the membership, even where that is one document too many: it is counted once so
                batch.add(self._places.locate_person(person), "people")
                return True
        return batch.room > 0

    @in_transaction
    async def note(
        self, transaction: Transaction, job: Job, executions: Collection[str], *, now: datetime, lease: timedelta
    ) -> Job:
        current = await self._check(transaction, job, now, lease)
        known = tuple(sorted({*current.executions, *executions}))
        counted = current.add_counts(job.kind.value, {"executions": len(known) - len(current.executions)})
        after = rules.note_executions(counted, known)
        transaction.update(self._places.locate_job(job.id), documents.write_fields(after, *PROGRESS, "executions"))
        return after

    @in_transaction
    async def note_files(
        self, transaction: Transaction, job: Job, files: Sequence[str], *, now: datetime, lease: timedelta
    ) -> Job:
        after = rules.note_files(await self._check(transaction, job, now, lease), tuple(files))
        transaction.update(self._places.locate_job(job.id), documents.write_fields(after, *PROGRESS, "files"))
        return after

    @in_transaction
    async def take_over(self, transaction: Transaction, job: Job, execution: str, *, now: datetime) -> None:
        reference, job_at = self._places.locate_execution(execution), self._places.locate_job(job.id)
        snapshots = await read_together(self._client, [reference, job_at], transaction)
        rules.check_job(documents.read_or_none(Job, snapshots[job_at.path]), job, now)
        stored = read_execution(snapshots[reference.path])
        if stored is not None and not stored.status.terminal:
            transaction.update(reference, {"taken_over_by": job.successor})

    @in_transaction
    async def finish(self, transaction: Transaction, job: Job, receipt: DeletionReceipt | None, *, now: datetime) -> None:
        job_at = self._places.locate_job(job.id)
        stored = documents.read_or_none(Job, await job_at.get(transaction=transaction))
        after = rules.finish_job(rules.check_job(stored, job, now), receipt, now)
        await self._forget_parts(transaction, job, list_subject_parts(job))
        if job.kind is JobKind.DELETE_WORKSPACE:
            transaction.delete(self._places.locate_workspace(job.subject))
            transaction.delete(self._places.locate_credential(job.subject, SECRET_NAME))
            transaction.delete(self._places.locate_file_quota(job.subject))
        transaction.set(job_at, documents.write(after))

    async def _check(self, transaction: Transaction, job: Job, now: datetime, lease: timedelta) -> Job:
        """Return the stored job with its lease renewed. Raise `StaleError` where `job` is not its holder's."""
        snapshot = await self._places.locate_job(job.id).get(transaction=transaction)
        return rules.renew_job(rules.check_job(documents.read_or_none(Job, snapshot), job, now), now, lease)

    def _query(self, job: Job, part: WorkspacePart) -> Any:
        client, name = self._client, part.collection
        query: Any = client.collection_group(name) if part.is_group else client.collection(name)
        if part in KINDS:
            query = filter_by(query, KINDS[part])
        query = filter_by(query, *((name, "==", value) for name, value in name_scope(job, part).items()))
        if part not in KINDS or job.kind is JobKind.DELETE_CONVERSATION:
            return query
        return query.order_by("created_at", direction="DESCENDING")
