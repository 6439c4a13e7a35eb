"""The documents of contexts, in memory."""

from __future__ import annotations

from ferryman.domain.executions.context import ExecutionContext
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.ports.contexts import ContextDocuments


class MemoryContexts(MemoryStore):
    """`ports.Contexts`."""

    async def read(self, context: ExecutionContext) -> ContextDocuments:
        task = self._memory.tasks.get(context.task)
        agents, workspaces = MemoryAgents(self._memory), MemoryWorkspaces(self._memory)
        member = self._memory.memberships.get((context.workspace, context.user))
        return ContextDocuments(
            owner=self._memory.owners.get(context.owner),
            workspace=await workspaces.get(context.workspace, owner=context.owner),
            agent=await agents.get(context.agent, owner=context.owner, workspace=context.workspace),
            task=task if task is not None and (task.owner, task.workspace) == (context.owner, context.workspace) else None,
            member=member if member is not None and member.owner == context.owner else None,
        )
