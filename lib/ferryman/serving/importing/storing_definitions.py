"""Storing the definitions of an archive: settings of the workspace, agents, tasks and their tools, checked as requests are."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.declared import check
from ferryman.domain.changes import change_value
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.remote_servers.server_problems import find_header_name_problems, find_url_problems
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces import rules
from ferryman.domain.workspaces.imports import PAUSED
from ferryman.domain.workspaces.workspace import CREDIT_LIMITS, Workspace, WorkspaceGoneError, WorkspaceState
from ferryman.offload import PackedSequence
from ferryman.serving.api.access import get_plan
from ferryman.serving.api.agent_checks import check_agent
from ferryman.serving.api.custom import list_domains
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.task import NewTask
from ferryman.serving.api.task_checks import check_task
from ferryman.serving.importing.pieces import Piece
from ferryman.serving.importing.target import ArchiveTarget
from ferryman.tools.declared import storing
from ferryman.tools.declared.importing import run_document_worker

AGENT_FIELDS = (
    *("name", "description", "system_prompt", "model", "allowed_tools", "tool_settings"),
    *("tools_enabled", "enabled_tools", "approvals", "titles"),
    *CREDIT_LIMITS,
    "template",
)
SETTINGS = ("name", "allowed_tools", *CREDIT_LIMITS, "retention_days", "approvals")


class DefinitionsImport:
    """The definitions of one import. What is stored again has the same id, and stays as it is."""

    def __init__(self, deps: ApiDependencies, caller: Caller, target: ArchiveTarget) -> None:
        self._deps = deps
        self._caller = caller
        self._target = target

    def check_settings(self, piece: Piece, workspace: Workspace) -> dict[str, Any]:
        """Return what the file changes in the workspace, {} for most. Raise `InvalidInputError`."""
        if piece.settings is None:
            return {}
        settings = {name: piece.settings[name] for name in SETTINGS}
        drafted = replace(workspace, **settings)
        plan, days = get_plan(self._deps, self._caller.owner), self._deps.retention_days
        problems = rules.find_workspace_problems(drafted, plan=plan, retention_days=days)
        if problems:
            raise InvalidInputError(_place(f"{piece.file.name} line 1", problems))
        return settings

    async def store(self, piece: Piece) -> None:
        """Store the agents with their MCP servers, the tasks and the tools in a file.

        Raise `InvalidInputError` with file, line and field, `LimitReachedError`, and `WorkspaceGoneError`.
        """
        await self._store_agents(piece)
        await self._store_servers(piece)
        await self._store_tasks(piece)
        await self._store_tools(piece)

    async def _store_agents(self, piece: Piece) -> None:
        owner, workspace = self._target.owner, self._target.workspace
        for place, read, is_default in piece.agents:
            agent = replace(read, id=self._target.derive_agent(read.id), owner=owner, workspace=workspace)
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
                changed = change_value(stored, changes, now=self._deps.clock.now())
                await self._deps.agents.update(changed, tuple(changes), since=stored.updated_at)

    async def _store_servers(self, piece: Piece) -> None:
        """Store MCP servers, without their credentials: a person enters these again, and accepts what they list."""
        for place, read in piece.servers:
            agent = self._target.derive_agent(read.agent)
            server = replace(read, id=self._target.derive("mcp", read.id), agent=agent)
            server = replace(server, owner=self._target.owner, workspace=self._target.workspace)
            problems = [*find_url_problems(server.url), *find_header_name_problems(server.auth, server.headers)]
            if problems:
                raise InvalidInputError(_place(f"{place}: mcp_servers", problems))
            await _at(f"{place}: mcp_servers", self._deps.remote_servers.create(server))

    async def _store_tasks(self, piece: Piece) -> None:
        plan = get_plan(self._deps, self._caller.owner)
        nothing = NewTask.model_construct(tools=())
        for place, read in piece.tasks:
            task = self._place_task(read.task)
            if await self._deps.agents.get(task.agent, owner=task.owner, workspace=task.workspace) is None:
                await self._check_workspace()
                raise build_input_error("content", f"{place}: agent: is none of the agents of the archive")
            changes = {"webhook_urls": task.webhook_urls}
            await _at(place, check_task(self._deps, plan, task, nothing, changes=changes, needs_model=False))
            await self._deps.tasks.create(task)

    def _place_task(self, read: Task) -> Task:
        """Return a task as it is stored here. Its schedule waits until a person turns the task on."""
        return replace(
            read,
            id=self._target.derive("task", read.id),
            owner=self._target.owner,
            workspace=self._target.workspace,
            agent=self._target.derive_agent(read.agent),
            paused=None if read.schedule is None else PAUSED,
            next_fire_at=None,
        )

    async def _store_tools(self, piece: Piece) -> None:
        for archived, (place, tools) in piece.tools.items():
            task = await self._deps.tasks.get(self._target.derive("task", archived))
            if task is None:
                await self._check_workspace()
                raise build_input_error("content", f"{place}: task: is none of the tasks of the archive")
            domains, owner = list_domains(task, self._deps), task.owner
            parts = await run_document_worker(owner, "content", split_clusters, tools, place, domains)
            try:
                for cluster, added in parts.items():
                    await _at(place, storing.extend_cluster(self._deps.clusters, task.id, cluster, added))
            except StaleError:
                await self._check_workspace()
                raise

    async def _check_workspace(self) -> None:
        """Raise `WorkspaceGoneError` where it is the deletion of the workspace that has taken away what was there before."""
        stored = await self._deps.workspaces.get(self._target.workspace, owner=self._target.owner)
        if stored is None or stored.state is WorkspaceState.DELETING:
            raise WorkspaceGoneError


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


def _place(place: str, problems: Sequence[Problem]) -> list[Problem]:
    return [Problem("content", f"{place}: {problem.field}: {problem.message}") for problem in problems]


async def _at(place: str, work: Awaitable[Any]) -> None:
    """Await `work`, and name the line where what is in it is not accepted."""
    try:
        await work
    except InvalidInputError as invalid:
        raise InvalidInputError(_place(place, invalid.problems)) from None
