"""The documents of contexts in Firestore: four in one request, and a fifth with them where a person started the execution."""

from __future__ import annotations

from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.owners.owner import Owner
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.member import Membership
from ferryman.gcp import documents
from ferryman.gcp.agents import read_agent
from ferryman.gcp.store import FirestoreStore, Snapshot, read_together
from ferryman.gcp.workspace_documents import read_workspace
from ferryman.ports.contexts import ContextDocuments


class FirestoreContexts(FirestoreStore):
    """`ports.Contexts`."""

    async def read(self, context: ExecutionContext) -> ContextDocuments:
        places = self._places
        owner, workspace = places.locate_owner(context.owner), places.locate_workspace(context.workspace)
        agent, task = places.locate_agent(context.agent), places.locate_task(context.task)
        references = [owner, workspace, agent, task]
        member = places.locate_membership(context.workspace, context.user) if context.user != context.owner else None
        snapshots = await read_together(self._client, references if member is None else [*references, member])
        stored = documents.read_or_none(Task, snapshots[task.path])
        is_here = stored is not None and (stored.owner, stored.workspace) == (context.owner, context.workspace)
        return ContextDocuments(
            owner=documents.read_or_none(Owner, snapshots[owner.path]),
            workspace=read_workspace(snapshots[workspace.path], owner=context.owner),
            agent=read_agent(snapshots[agent.path], owner=context.owner, workspace=context.workspace),
            task=stored if is_here else None,
            member=None if member is None else _read_member(snapshots[member.path], context),
        )


def _read_member(snapshot: Snapshot, context: ExecutionContext) -> Membership | None:
    stored = documents.read_or_none(Membership, snapshot)
    return stored if stored is not None and stored.owner == context.owner else None
