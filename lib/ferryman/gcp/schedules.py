"""Scheduled tasks in Firestore: a time comes true in the transaction that moves its task to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain import firing
from ferryman.domain.execution import Execution
from ferryman.domain.firing import Fire
from ferryman.domain.schedule import Kind
from ferryman.domain.task import Task
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.halts import standing, switches, together
from ferryman.ports import Fired, Halted

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@translated
class FirestoreSchedules:
    """`ports.Schedules`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def fire(self, fire: Fire, *, now: datetime) -> Fired:
        from google.cloud.firestore import FieldFilter, Query, async_transactional

        client = self._clients.firestore()
        task_at, execution_at = places.task(client, fire.task), places.execution(client, fire.execution)
        ended = (
            client.collection("executions")
            .where(filter=FieldFilter("task", "==", fire.task))
            .where(filter=FieldFilter("schedule_generation", "==", fire.generation))
            .where(filter=FieldFilter("status", "in", [each.value for each in firing.ENDED]))
            .order_by("completed_at", direction=Query.DESCENDING)
            .limit(firing.FAILURES_MAX)
        )

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Fired:
            found = await together(client, [task_at, execution_at], transaction)
            task = _of(Task, found[task_at.path].to_dict())
            made = _of(Execution, found[execution_at.path].to_dict())
            if task is None or made is not None or firing.upcoming(task) != fire or fire.at > now:
                return Fired(task=task, execution=made)
            reason = standing(await together(client, switches(client, task.owner), transaction), client, task.owner)
            if reason is not None:
                raise Halted(reason)
            recent = [documents.read(Execution, each.to_dict()) async for each in ended.stream(transaction=transaction)]
            after, execution = firing.fired(task, fire, recent=recent, now=now)
            transaction.update(task_at, documents.part(after, *firing.STATE, "updated_at"))
            if execution is not None:
                transaction.create(execution_at, documents.write(execution))
            return Fired(task=after, execution=execution)

        try:
            return await store(client.transaction())
        except documents.Unreadable:
            return Fired(task=None, execution=None)  # its timer would come back for ever

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

    async def count(self, owner: str) -> int:
        from google.cloud.firestore import FieldFilter

        query = self._clients.firestore().collection("tasks").where(filter=FieldFilter("owner", "==", owner))
        count: Any = query.where(filter=FieldFilter("schedule.type", "in", [each.value for each in Kind])).count()
        return int((await count.get())[0][0].value)

    def _waiting(self) -> Any:
        """The tasks that wait for a time, the earliest first."""
        from google.cloud.firestore import FieldFilter

        tasks: Any = self._clients.firestore().collection("tasks")
        return tasks.where(filter=FieldFilter("next_fire_at", ">", _EPOCH)).order_by("next_fire_at")


def _of(kind: type[Any], document: dict[str, Any] | None) -> Any:
    return None if document is None else documents.read(kind, document)
