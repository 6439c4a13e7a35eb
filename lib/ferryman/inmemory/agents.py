"""The agents of workspaces, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AGENTS_PER_WORKSPACE_MAX, Agent, build_default_agent
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import check_workspace


class MemoryAgents(MemoryStore):
    """`ports.Agents`."""

    async def get(self, agent: str, *, owner: str, workspace: str) -> Agent | None:
        stored = self._memory.agents.get(agent)
        if stored is None and agent == derive_default_agent(workspace):
            return build_default_agent(owner, workspace)
        return stored if stored is not None and (stored.owner, stored.workspace) == (owner, workspace) else None

    async def list(self, owner: str, workspace: str) -> Sequence[Agent]:
        stored = [agent for agent in self._memory.agents.values() if (agent.owner, agent.workspace) == (owner, workspace)]
        if not any(agent.is_default for agent in stored):
            stored.append(build_default_agent(owner, workspace))
        return sorted(stored, key=lambda agent: (agent.created_at, agent.id))

    async def create(self, agent: Agent, *, most: int = AGENTS_PER_WORKSPACE_MAX, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        stored = self._memory.agents.get(agent.id)
        if stored is not None:
            if (stored.owner, stored.created_at) == (agent.owner, agent.created_at):
                return
            raise ValueError("the agent exists already")
        check_workspace(self._memory, agent.workspace, owner=agent.owner)
        check_limit(len(await self.list(agent.owner, agent.workspace)), most, of="agents", owner="a workspace")
        self._memory.agents[agent.id] = agent
        keyed.store_completion(self._memory, done)

    async def update(self, agent: Agent, fields: Collection[str], *, since: datetime) -> bool:
        stored = await self.get(agent.id, owner=agent.owner, workspace=agent.workspace)
        if stored is None:
            return False
        if stored.updated_at != since:
            raise StaleError("changed by somebody else")
        if agent.id not in self._memory.agents:
            check_workspace(self._memory, agent.workspace, owner=agent.owner)
        change: dict[str, Any] = {name: getattr(agent, name) for name in (*fields, "updated_at")}
        self._memory.agents[agent.id] = replace(stored, **change)
        return True

    async def delete(self, agent: str, *, owner: str, workspace: str) -> bool:
        stored = self._memory.agents.get(agent)
        if stored is None or (stored.owner, stored.workspace) != (owner, workspace):
            return False
        del self._memory.agents[agent]
        return True
