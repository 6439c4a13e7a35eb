"""Scheduled tasks in Firestore: the transaction that makes the execution of a time moves the task to its next time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.task import Task
from ferryman.gcp import documents, occupancy
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import list_switches, read_halt_reason
from ferryman.gcp.store import FirestoreStore, Transaction, filter_by, in_transaction, read_together
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
        snapshots = await read_together(self._client, [task_at, execution_at], transaction)
        task = documents.read_or_none(Task, snapshots[task_at.path])
        execution = documents.read_or_none(Execution, snapshots[execution_at.path])
        if task is None or execution is not None or firing.find_next_fire(task) != fire or fire.at > now:
            return FiredSchedule(task=task, execution=execution)
        owner_at, occupancy_at = places.locate_owner(task.owner), places.locate_occupancy(task.owner)
        references = [*list_switches(places, task.owner), owner_at, occupancy_at]
        of_owner = await read_together(self._client, references, transaction)
        reason = read_halt_reason(of_owner, places, task.owner)
        if reason is not None:
            raise HaltedError(reason)
        recent = await documents.read_all(Execution, self._query_ended(fire), transaction)
        after, execution = firing.fire_task(task, fire, recent=recent, now=now)
        if execution is not None:
            plan = occupancy.find_plan(of_owner[owner_at.path], self._plans)
            if plan is not None:
                occupied = occupancy.read_occupancy(of_owner[occupancy_at.path])
                queued = occupied.enqueue(execution, most=plan.executions_queued)
                occupancy.store_occupancy(transaction, places, task.owner, queued)
            transaction.create(execution_at, documents.write(execution))
        transaction.update(task_at, documents.write_fields(after, *firing.SCHEDULE_FIELDS, "updated_at"))
        return FiredSchedule(task=after, execution=execution)

    def _query_ended(self, fire: Fire) -> Any:
        """Return the query of the executions of this schedule that ended last."""
        from google.cloud.firestore import Query

        ended = filter_by(
            self._client.collection("executions"),
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
