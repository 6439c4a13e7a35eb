"""Scheduled tasks in Firestore: the transaction that makes the execution of a time moves the task to its next time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.retention import freeze_retention
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.task import Task
from ferryman.gcp import documents, occupancy
from ferryman.gcp.execution_documents import IS_EXECUTION, is_unchanged, read_execution, write_execution
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import list_switches, read_halt_reason
from ferryman.gcp.retention import read_workspace_days
from ferryman.gcp.store import (
    FirestoreStore,
    Transaction,
    filter_by,
    get_readable,
    in_transaction,
    list_readable,
    read_together,
)
from ferryman.ports.errors import HaltedError
from ferryman.ports.schedules import FiredSchedule

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class FirestoreSchedules(FirestoreStore):
    """`ports.Schedules`."""

    def __init__(self, clients: FirestoreClient, plans: Mapping[str, Plan] = PLANS) -> None:
        super().__init__(clients)
        self._plans = plans

    async def fire(self, fire: Fire, *, now: datetime) -> FiredSchedule:
        try:
            return await self._fire(fire, now)
        except documents.UnreadableDocumentError:
            return FiredSchedule(task=None, execution=None)  # its timer would be delivered for ever

    @in_transaction
    async def _fire(self, transaction: Transaction, fire: Fire, now: datetime) -> FiredSchedule:
        places = self._places
        task_at, execution_at = places.locate_task(fire.task), places.locate_execution(fire.execution)
        task = documents.read_or_none(Task, await task_at.get(transaction=transaction))
        snapshot = await get_readable(execution_at, transaction)
        execution = None if snapshot is None else read_execution(snapshot)
        if task is None or execution is not None or firing.find_next_fire(task) != fire or fire.at > now:
            is_new = execution is not None and execution.status is Status.QUEUED
            replaced = is_new and snapshot is not None and not is_unchanged(snapshot)
            return FiredSchedule(task=task, execution=execution, replaced=replaced)
        owner_at, occupancy_at = places.locate_owner(task.owner), places.locate_occupancy(task.owner)
        workspace_at = places.locate_workspace(task.workspace)
        references = [*list_switches(places, task.owner), owner_at, occupancy_at, workspace_at]
        of_owner = await read_together(self._client, references, transaction)
        reason = read_halt_reason(of_owner, places, task.owner)
        if reason is not None:
            raise HaltedError(reason)
        ended = map(read_execution, await list_readable(self._query_ended(fire), transaction))
        recent = [execution for execution in ended if execution is not None and execution.status in firing.ENDED]
        after, execution = firing.fire_task(task, fire, recent=recent, now=now)
        if execution is not None:
            plan = occupancy.find_plan(of_owner[owner_at.path], self._plans)
            occupied = occupancy.read_occupancy(of_owner[occupancy_at.path])
            # without a plan it is started all the same, and then fails for the lack of one
            queued = occupied.enqueue(execution, most=plan.executions_queued if plan else len(occupied.queued) + 1)
            occupancy.store_occupancy(transaction, places, task.owner, queued)
            # a document that an application put in its place gives way
            execution = freeze_retention(execution, read_workspace_days(of_owner[workspace_at.path]))
            transaction.set(execution_at, write_execution(execution))
        transaction.update(task_at, documents.write_fields(after, *firing.SCHEDULE_FIELDS, "updated_at"))
        return FiredSchedule(task=after, execution=execution, replaced=snapshot is None or snapshot.exists)

    def _query_ended(self, fire: Fire) -> Any:
        """Return the query of the executions of this schedule that ended last."""
        from google.cloud.firestore import Query

        ended = filter_by(
            self._client.collection("executions"),
            IS_EXECUTION,
            ("task", "==", fire.task),
            ("schedule_generation", "==", fire.generation),
            ("status", "in", [status.value for status in firing.ENDED]),
        )
        return ended.order_by("completed_at", direction=Query.DESCENDING).limit(firing.FAILURES_MAX)

    async def overdue(self, *, before: datetime) -> Sequence[Fire]:
        late = filter_by(self._query_armed(), ("next_fire_at", "<", before)).select(["schedule_generation", "next_fire_at"])
        fires = []
        async for snapshot in late.stream():
            fields = snapshot.to_dict()
            fires.append(Fire(task=snapshot.id, generation=fields.get("schedule_generation", 0), at=fields["next_fire_at"]))
        return fires

    async def armed(self) -> bool:
        return bool([snapshot async for snapshot in self._query_armed().select([]).limit(1).stream()])

    def _query_armed(self) -> Any:
        """Return the query of the tasks that wait for a time, the earliest first."""
        return filter_by(self._client.collection("tasks"), ("next_fire_at", ">", _EPOCH)).order_by("next_fire_at")
