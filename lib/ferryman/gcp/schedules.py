"""Scheduled tasks in Firestore: a time comes true in the transaction that moves its task to the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.task import Task
from ferryman.gcp import documents, occupancy, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import find_halt_reason, get_together, list_switches
from ferryman.gcp.transactions import transact
from ferryman.ports.errors import HaltedError
from ferryman.ports.schedules import FiredSchedule

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@translate_errors
class FirestoreSchedules:
    """`ports.Schedules`."""

    def __init__(self, clients: FirestoreClient, plans: Mapping[str, Plan] = PLANS) -> None:
        self._clients = clients
        self._plans = plans

    async def fire(self, fire: Fire, *, now: datetime) -> FiredSchedule:
        from google.cloud.firestore import FieldFilter, Query

        client = self._clients.firestore()
        task_at, execution_at = places.locate_task(client, fire.task), places.locate_execution(client, fire.execution)
        ended = (
            client.collection("executions")
            .where(filter=FieldFilter("task", "==", fire.task))
            .where(filter=FieldFilter("schedule_generation", "==", fire.generation))
            .where(filter=FieldFilter("status", "in", [each.value for each in firing.ENDED]))
            .order_by("completed_at", direction=Query.DESCENDING)
            .limit(firing.FAILURES_MAX)
        )

        async def store(transaction: AsyncTransaction) -> FiredSchedule:
            found = await get_together(client, [task_at, execution_at], transaction)
            task = _read_or_none(Task, found[task_at.path].to_dict())
            made = _read_or_none(Execution, found[execution_at.path].to_dict())
            if task is None or made is not None or firing.find_next_fire(task) != fire or fire.at > now:
                return FiredSchedule(task=task, execution=made)
            owner, occupied_at = places.locate_owner(client, task.owner), places.locate_occupancy(client, task.owner)
            about = await get_together(client, [*list_switches(client, task.owner), owner, occupied_at], transaction)
            reason = find_halt_reason(about, client, task.owner)
            if reason is not None:
                raise HaltedError(reason)
            recent = [documents.read(Execution, each.to_dict()) async for each in ended.stream(transaction=transaction)]
            after, execution = firing.fire_task(task, fire, recent=recent, now=now)
            if execution is not None:
                plan = occupancy.find_plan(about[owner.path], self._plans)
                if plan is not None:
                    queued = occupancy.read_occupancy(about[occupied_at.path]).enqueue(execution, most=plan.executions_queued)
                    occupancy.store_occupancy(transaction, client, task.owner, queued)
            transaction.update(task_at, documents.write_fields(after, *firing.SCHEDULE_FIELDS, "updated_at"))
            if execution is not None:
                transaction.create(execution_at, documents.write(execution))
            return FiredSchedule(task=after, execution=execution)

        try:
            return await transact(client.transaction(), store)
        except documents.UnreadableDocumentError:
            return FiredSchedule(task=None, execution=None)  # its timer would come back for ever

    async def overdue(self, *, before: datetime) -> Sequence[Fire]:
        from google.cloud.firestore import FieldFilter

        late = self._waiting().where(filter=FieldFilter("next_fire_at", "<", before))
        found = []
        async for each in late.select(["schedule_generation", "next_fire_at"]).stream():
            fields = each.to_dict()
            found.append(Fire(task=each.id, generation=fields.get("schedule_generation", 0), at=fields["next_fire_at"]))
        return found

    async def armed(self) -> bool:
        return bool([each async for each in self._waiting().select([]).limit(1).stream()])

    def _waiting(self) -> Any:
        """The tasks that wait for a time, the earliest first."""
        from google.cloud.firestore import FieldFilter

        tasks: Any = self._clients.firestore().collection("tasks")
        return tasks.where(filter=FieldFilter("next_fire_at", ">", _EPOCH)).order_by("next_fire_at")


def _read_or_none(kind: type[Any], document: dict[str, Any] | None) -> Any:
    return None if document is None else documents.read(kind, document)
