"""What a job changes in memory: each change checks the job's lease, and counts what it deletes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.credits.balance import forget_parts, name_owner_balance
from ferryman.domain.executions.execution import Execution
from ferryman.domain.jobs import job as rules
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import CONVERSATIONS, EXECUTIONS, MCP_SERVERS, MEMBERS, REFUSED, TASKS, WorkspacePart
from ferryman.domain.jobs.scope import concerns, list_subject_parts, name_balance_part, name_scope
from ferryman.inmemory.credentials import MCP_SERVERS as HOLDERS
from ferryman.inmemory.jobs import check
from ferryman.inmemory.memory import Memory, MemoryStore
from ferryman.ports.jobs import JobProgress

Belonging = tuple[str, Callable[[], Any]]
"""A document: what it is counted as, and what removes it."""


class MemoryJobWork(MemoryStore):
    """`ports.JobWork`."""

    async def unended(self, job: Job) -> Sequence[Execution]:
        executions = sorted(self._memory.executions.values(), key=lambda execution: execution.id)
        return [item for item in executions if not item.status.terminal and concerns(job, item)]

    async def disable_tasks(self, job: Job, *, most: int, now: datetime, lease: timedelta) -> JobProgress:
        current = self._renew(job, now, lease)
        tasks = [task for task in self._memory.tasks.values() if task.enabled and _fits(job, TASKS, task)][:most]
        for task in tasks:
            self._memory.tasks[task.id] = replace(task, enabled=False)
        return JobProgress(self._put(current), len(tasks) == most)

    async def delete(self, job: Job, part: WorkspacePart, *, most: int, now: datetime, lease: timedelta) -> JobProgress:
        current = self._renew(job, now, lease)
        before = self._list_balance_parts(job, part)
        belongings = [*_list_belongings(self._memory, job, part)]
        counts = Counter[str]()
        for name, remove in belongings[:most]:
            remove()
            counts[name] += 1
        self._forget_parts(job, before - self._list_balance_parts(job, part))
        return JobProgress(self._put(current.add_counts(part.name, counts)), len(belongings) > most)

    async def note(self, job: Job, executions: Collection[str], *, now: datetime, lease: timedelta) -> Job:
        current = self._renew(job, now, lease)
        known = tuple(sorted({*current.executions, *executions}))
        counted = current.add_counts(job.kind.value, {"executions": len(known) - len(current.executions)})
        return self._put(rules.note_executions(counted, known))

    async def note_files(self, job: Job, files: Sequence[str], *, now: datetime, lease: timedelta) -> Job:
        return self._put(rules.note_files(self._renew(job, now, lease), tuple(files)))

    async def take_over(self, job: Job, execution: str, *, now: datetime) -> None:
        check(self._memory, job, now)
        stored = self._memory.executions.get(execution)
        if stored is not None and not stored.status.terminal:
            self._memory.executions[execution] = replace(stored, taken_over_by=job.successor)

    async def finish(self, job: Job, receipt: DeletionReceipt | None, *, now: datetime) -> None:
        after = rules.finish_job(check(self._memory, job, now), receipt, now)
        self._forget_parts(job, {*list_subject_parts(job)})
        if job.kind is JobKind.DELETE_WORKSPACE:
            self._memory.workspaces.pop(job.subject, None)
            self._memory.credentials.pop(job.subject, None)
            self._memory.file_quotas.pop(job.subject, None)
        self._put(after)

    def _list_balance_parts(self, job: Job, part: WorkspacePart) -> set[str]:
        """Return the parts of the owner's balance that belong to what there is of `part`."""
        memory = self._memory
        names: dict[str, list[str]] = {
            "tasks": [task.id for task in memory.tasks.values() if part is TASKS and _fits(job, TASKS, task)],
            "agents": [agent.id for agent in memory.agents.values() if agent.workspace == job.workspace],
            "members": [person for workspace, person in memory.memberships if workspace == job.workspace],
        }
        return {name_balance_part(job, part, name) or "" for name in names.get(part.name, [])}

    def _forget_parts(self, job: Job, names: set[str]) -> None:
        stored = self._memory.balances.get(owner := name_owner_balance(job.owner))
        if stored is not None:
            self._memory.balances[owner] = forget_parts(stored, names)

    def _renew(self, job: Job, now: datetime, lease: timedelta) -> Job:
        return rules.renew_job(check(self._memory, job, now), now, lease)

    def _put(self, job: Job) -> Job:
        self._memory.jobs[job.id] = job
        return job


def _fits(job: Job, part: WorkspacePart, value: Any) -> bool:
    return value.owner == job.owner and all(getattr(value, name) == text for name, text in name_scope(job, part).items())


def _list_belongings(memory: Memory, job: Job, part: WorkspacePart) -> Iterator[Belonging]:
    """Yield what is deleted of a part, what is below a document before itself."""
    if part is EXECUTIONS:
        for execution in [item for item in memory.executions.values() if item.status.terminal and _fits(job, part, item)]:
            yield from _list_execution(memory, execution.id)
    elif part is TASKS:
        for task in [item for item in memory.tasks.values() if _fits(job, part, item)]:
            yield from _list_task(memory, task.id)
    elif part is MCP_SERVERS:
        for server in [item for item in memory.mcp_servers.values() if _fits(job, part, item)]:
            yield from _list_server(memory, server.id)
    elif part is CONVERSATIONS:
        for conversation in [item for item in memory.conversations.values() if _fits(job, part, item)]:
            for number in [*memory.messages.get(conversation.id, {})]:
                yield "messages", _remove(memory.messages[conversation.id], number)
            yield part.name, _remove(memory.conversations, conversation.id)
    elif part is REFUSED:
        scope = {"owner": job.owner, **name_scope(job, part)}
        for name in [name for name, fields in memory.refused.items() if scope.items() <= fields.items()]:
            yield part.name, _remove(memory.refused, name)
    elif part.is_group:
        for user in [user for user, workspace in memory.user_workspaces.items() if workspace == job.workspace]:
            for place in [
                place for place, (document, _) in memory.user_documents.items() if place[0] == user and document is not None
            ]:
                yield part.name, _remove(memory.user_documents, place)
    elif isinstance(stored := getattr(memory, _NAMES.get(part.name, part.name), None), dict):
        for name in [name for name, item in stored.items() if _is_part(job, part, item)]:
            if part is MEMBERS and name[1] in memory.people and sum(person == name[1] for _, person in stored) == 1:
                yield "people", _remove(memory.people, name[1])
            yield part.name, _remove(stored, name)


def _is_part(job: Job, part: WorkspacePart, item: Any) -> bool:
    return _fits(job, part, item) if part.of_agents else getattr(item, "workspace", "") == job.workspace


_NAMES = {"members": "memberships", "answers": "keyed", "audit_entries": "audit"}
"""The fields of `Memory` that have another name than the part."""


def _list_execution(memory: Memory, name: str) -> Iterator[Belonging]:
    for number in [*memory.steps.get(name, {})]:
        yield "steps", _remove(memory.steps[name], number)
    if name in memory.openings:
        yield "steps", _remove(memory.openings, name)
    for seq in [*memory.tickets.get(name, {})]:
        yield "calls", _remove(memory.tickets[name], seq)

    def remove() -> None:
        parts: tuple[dict[str, Any], ...] = (
            *(memory.receipts, memory.steps, memory.tickets),
            *(memory.overflows, memory.imported_entries, memory.live),
        )
        for stored in (*parts, memory.executions):
            stored.pop(name, None)

    yield "executions", remove


def _list_task(memory: Memory, name: str) -> Iterator[Belonging]:
    kinds: dict[str, dict[str, dict[str, Any]]] = {
        "credentials": memory.credentials,
        "former_values": memory.former,
        "connections": memory.connections,
        "clusters": memory.clusters,
    }
    for kind, stored in kinds.items():
        for key in [*stored.get(name, {})]:
            yield kind, _remove(stored[name], key)
    for key in [key for key, slot in memory.tokens.items() if slot.task == name]:
        yield "tokens", _remove(memory.tokens, key)
    for key in [key for key, standing in memory.standing_approvals.items() if standing.task == name]:
        yield "standing_approvals", _remove(memory.standing_approvals, key)

    def remove() -> None:
        others: tuple[dict[str, Any], ...] = (memory.versions, memory.generations, memory.tasks)
        for stored in (*kinds.values(), *others):
            stored.pop(name, None)

    yield "tasks", remove


def _list_server(memory: Memory, name: str) -> Iterator[Belonging]:
    place = f"{HOLDERS}/{name}"
    kinds: dict[str, dict[str, dict[str, Any]]] = {
        "credentials": memory.credentials,
        "former_values": memory.former,
        "connections": memory.connections,
    }
    for kind, stored in kinds.items():
        for key in [*stored.get(place, {})]:
            yield kind, _remove(stored[place], key)
    if memory.mcp_descriptors.get(name):
        yield "descriptors", _remove(memory.mcp_descriptors, name)

    def remove() -> None:
        for stored in (*kinds.values(), memory.versions):
            stored.pop(place, None)
        memory.mcp_servers.pop(name, None)

    yield "mcp_servers", remove


def _remove(stored: dict[Any, Any], key: Any) -> Callable[[], Any]:
    return lambda: stored.pop(key, None)
