"""Importing: the files of an archive become a workspace, one after the other, each in steps that may be repeated.

What a file makes is stored first, and then, in one commit with the workspace, that it is stored. Whatever dies in between, the
same file is sent again: its things have the same ids, and nothing is there twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.declared import check
from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.records.record import Record
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces import rules
from ferryman.domain.workspaces.agent import change_agent
from ferryman.domain.workspaces.imports import PAUSED, ArchiveImport, derive_agent, derive_id
from ferryman.domain.workspaces.workspace import CREDIT_LIMITS, Workspace, WorkspaceGoneError, WorkspaceState
from ferryman.offload import PackedSequence
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.agent_checks import check_agent
from ferryman.serving.api.custom import list_domains
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.imports import CredentialToEnter
from ferryman.serving.api.shapes.task import NewTask
from ferryman.serving.api.task_checks import check_task
from ferryman.serving.importing.history import ArchiveTarget, build_record, check_execution
from ferryman.serving.importing.pieces import Piece, read_piece
from ferryman.tools.declared import storing
from ferryman.tools.declared.importing import run_document_worker

AGENT_FIELDS = (
    *("name", "description", "system_prompt", "model", "allowed_tools", "tool_settings"),
    *CREDIT_LIMITS,
    "template",
)
READ_AT_ONCE = 20
"""Executions that are looked for at once."""

SETTINGS = ("name", "allowed_tools", *CREDIT_LIMITS, "retention_days")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """The workspace after a file was stored, and the credentials that have to be entered again for the tasks in it."""

    workspace: Workspace
    credentials: tuple[CredentialToEnter, ...] = ()


class WorkspaceImport:
    """One import. `store` stores the file `number`, which `body` has as a request.

    It raises `InvalidInputError` with file, line and field, `StaleError` where another file is the next, `LimitReachedError`,
    and `WorkspaceGoneError` where the workspace is deleted meanwhile: nothing is stored in it any more.
    """

    def __init__(self, deps: ApiDependencies, caller: Caller, workspace: Workspace, run: ArchiveImport) -> None:
        self._deps = deps
        self._caller = replace(caller, workspace=workspace.id)
        self._workspace = workspace
        self._run = run
        self._target = ArchiveTarget(
            owner=workspace.owner,
            workspace=workspace.id,
            retention_days=workspace.retention_days,
            began_at=workspace.created_at,
            run=run,
        )

    async def store(self, number: int, body: bytes) -> StoredFile:
        owner, is_next = self._workspace.owner, self._run.awaits(number)
        piece = await run_document_worker(owner, "content", read_piece, body, self._target, number, self._deps.neutralize)
        if not is_next:
            self._run.check_repeated(piece.file.name, piece.file.sha256)
            return StoredFile(workspace=self._workspace, credentials=self._list_credentials(piece))
        defaults = [agent.id for _, agent, is_default in piece.agents if is_default]
        default = defaults[0] if defaults else None
        if len(defaults) > 1 or (defaults and self._run.default_agent):
            raise build_input_error("content", f"{piece.file.name}: is_default: there is more than one default agent")
        self._run = replace(self._run, default_agent=default or self._run.default_agent)
        after = self._run.advance(
            piece.file.name, piece.file.sha256, piece.count, run=piece.history.run, oldest=piece.history.oldest
        )
        changes = await self._check_settings(piece)
        await self._store_agents(piece)
        await self._store_tasks(piece)
        await self._store_tools(piece)
        await self._store_history(piece)
        changes |= {"imported": after, "state": WorkspaceState.ACTIVE if after.is_whole else WorkspaceState.IMPORTING}
        changed = rules.change_workspace(self._workspace, changes, now=self._deps.clock.now())
        if not await self._deps.workspaces.update(changed, tuple(changes), since=self._workspace.updated_at):
            raise WorkspaceGoneError
        return StoredFile(workspace=changed, credentials=self._list_credentials(piece))

    async def _check_settings(self, piece: Piece) -> dict[str, Any]:
        if piece.settings is None:
            return {}
        settings = {name: piece.settings[name] for name in SETTINGS}
        drafted = replace(self._workspace, **settings)
        plan, days = get_plan(self._deps, self._caller.owner), self._deps.retention_days
        problems = rules.find_workspace_problems(drafted, plan=plan, retention_days=days)
        if problems:
            raise InvalidInputError(_place(f"{piece.file.name} line 1", problems))
        return settings

    async def _store_agents(self, piece: Piece) -> None:
        owner, workspace = self._workspace.owner, self._workspace.id
        for place, read, is_default in piece.agents:
            agent = replace(read, id=self._derive_agent(read.id), owner=owner, workspace=workspace)
            if is_default and agent.archived:
                raise build_input_error("content", f"{place}: archived: the default agent cannot be archived")
            await _at(place, check_agent(self._deps, self._caller, agent))
            if not is_default:
                await self._deps.agents.create(agent)
                continue
            stored = await self._deps.agents.get(agent.id, owner=owner, workspace=workspace)
            assert stored is not None, "every workspace has a default agent"
            changes = {name: getattr(agent, name) for name in AGENT_FIELDS if getattr(agent, name) != getattr(stored, name)}
            if changes:
                changed = change_agent(stored, changes, now=self._deps.clock.now())
                await self._deps.agents.update(changed, tuple(changes), since=stored.updated_at)

    async def _store_tasks(self, piece: Piece) -> None:
        plan = get_plan(self._deps, self._caller.owner)
        nothing = NewTask.model_construct(tools=())
        for place, read in piece.tasks:
            task = self._place_task(read.task)
            if await self._deps.agents.get(task.agent, owner=task.owner, workspace=task.workspace) is None:
                raise build_input_error("content", f"{place}: agent: is none of the agents of the archive")
            changes = {"webhook_urls": task.webhook_urls}
            await _at(place, check_task(self._deps, plan, task, nothing, changes=changes))
            await self._deps.tasks.create(task)

    def _place_task(self, read: Task) -> Task:
        """Return a task as it is stored here. Its schedule waits until a person turns the task on."""
        return replace(
            read,
            id=self._derive("task", read.id),
            owner=self._workspace.owner,
            workspace=self._workspace.id,
            agent=self._derive_agent(read.agent),
            paused=None if read.schedule is None else PAUSED,
            next_fire_at=None,
        )

    async def _store_tools(self, piece: Piece) -> None:
        for archived, (place, tools) in piece.tools.items():
            task = await self._deps.tasks.get(self._derive("task", archived))
            if task is None:
                raise build_input_error("content", f"{place}: task: is none of the tasks of the archive")
            domains, owner = list_domains(task, self._deps), task.owner
            parts = await run_document_worker(owner, "content", split_clusters, tools, place, domains)
            for cluster, added in parts.items():
                await _at(place, storing.extend_cluster(self._deps.clusters, task.id, cluster, added))

    async def _store_history(self, piece: Piece) -> None:
        await self._check_new(piece)
        began, days = self._target.began_at, self._target.retention_days
        place = {"owner": self._workspace.owner, "workspace": self._workspace.id}
        await self._deps.archives.add_history(piece.history.pieces, **place, ended_at=began, retention_days=days)
        for name in piece.history.spanning:
            record, receipts, keys = await self._read_record(name)
            await run_document_worker(self._workspace.owner, "content", check_spanning, piece.file.name, record, receipts, keys)

    async def _check_new(self, piece: Piece) -> None:
        """Raise `InvalidInputError` for an execution that began in an earlier file, at another time.

        With the same time it was stored by an earlier attempt at this file: each is older than those of earlier files.
        """
        new = [read.execution for read in piece.history.pieces if read.execution is not None]
        for first in range(0, len(new), READ_AT_ONCE):
            read = new[first : first + READ_AT_ONCE]
            stored = await asyncio.gather(*(self._deps.executions.get(execution.id) for execution in read))
            for execution, known in zip(read, stored, strict=True):
                if known is not None and known.created_at != execution.created_at:
                    name = execution.restore().id
                    raise build_input_error("content", f"{piece.file.name}: execution {name}: is in the archive twice")

    async def _read_record(self, name: str) -> tuple[Record, Sequence[Receipt], Mapping[str, str]]:
        store = self._deps.executions
        execution = await store.get(name)
        if execution is None or execution.imported_from is None:
            raise build_input_error("content", "an execution that began in an earlier file has expired")
        parts = ExecutionParts(
            opening=await store.opening(name),
            steps=await store.steps(name),
            tickets=await store.tickets(name),
            entries=await self._deps.archives.list_entries(name),
        )
        return build_record(execution, parts), await store.receipts(name), execution.imported_from.keys

    def _list_credentials(self, piece: Piece) -> tuple[CredentialToEnter, ...]:
        return tuple(
            CredentialToEnter(task_id=self._derive("task", read.task.id), task=read.task.name, **_select(label))
            for _, read in piece.tasks
            for label in read.credentials
        )

    def _derive(self, prefix: str, name: str) -> str:
        return derive_id(self._workspace.id, prefix, name)

    def _derive_agent(self, name: str) -> str:
        return derive_agent(self._workspace.id, self._run, name)


def split_clusters(
    tools: Sequence[DeclaredTool], place: str, domains: Sequence[str]
) -> dict[str, PackedSequence[DeclaredTool]]:
    """Return tools by cluster; a function for workers. Raise `InvalidInputError` for a host that their task may not call."""
    clusters: dict[str, list[DeclaredTool]] = {}
    problems: list[Problem] = []
    for tool in tools:
        clusters.setdefault(tool.cluster, []).append(tool)
        if tool.enabled:
            problems += check.find_host_problems(tool, where=tool.name, domains=domains)
    if problems:
        raise InvalidInputError(_place(place, problems))
    return {name: PackedSequence(declared) for name, declared in clusters.items()}


def check_spanning(file: str, record: Record, receipts: Sequence[Receipt], keys: Mapping[str, str]) -> None:
    """Do what `check_execution` does, for workers."""
    try:
        check_execution(record, receipts, keys)
    except ArchiveError as error:
        raise build_input_error("content", f"{file}: {error}") from None


def _select(label: Mapping[str, Any]) -> dict[str, Any]:
    return {name: label[name] for name in ("name", "service", "auth_type", "hosts")}


def _place(place: str, problems: Sequence[Problem]) -> list[Problem]:
    return [Problem("content", f"{place}: {problem.field}: {problem.message}") for problem in problems]


async def _at(place: str, work: Awaitable[Any]) -> None:
    """Await `work`, and name the line where what is in it is not accepted."""
    try:
        await work
    except InvalidInputError as invalid:
        raise InvalidInputError(_place(place, invalid.problems)) from None
