"""The agents of workspaces in Firestore: a document each, but for a default agent that nobody has changed yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AGENTS_PER_WORKSPACE_MAX, Agent, build_default_agent
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.gcp import documents, keyed
from ferryman.gcp.store import FirestoreStore, Snapshot, Transaction, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace


def read_agent(snapshot: Snapshot, *, owner: str, workspace: str) -> Agent | None:
    """Return the agent in `snapshot`, or the default one of `workspace`; None for one that is not there, or not in it."""
    stored = documents.read_or_none(Agent, snapshot)
    if stored is None and snapshot.id == derive_default_agent(workspace):
        return build_default_agent(owner, workspace)
    return stored if stored is not None and (stored.owner, stored.workspace) == (owner, workspace) else None


class FirestoreAgents(FirestoreStore):
    """`ports.Agents`."""

    async def get(self, agent: str, *, owner: str, workspace: str) -> Agent | None:
        return read_agent(await self._places.locate_agent(agent).get(), owner=owner, workspace=workspace)

    async def list(self, owner: str, workspace: str) -> Sequence[Agent]:
        return _complete(await documents.read_all(Agent, self._query(owner, workspace)), owner, workspace)

    async def create(self, agent: Agent, *, most: int = AGENTS_PER_WORKSPACE_MAX, done: Completion | None = None) -> None:
        await documents.confirm_created(self._create(agent, most, done), self._places.locate_agent(agent.id), agent)

    @in_transaction
    async def _create(self, transaction: Transaction, agent: Agent, most: int, done: Completion | None) -> None:
        answered = await keyed.read_completion(transaction, self._places, done)
        reference, workspace_at = self._places.locate_agent(agent.id), self._places.locate_workspace(agent.workspace)
        snapshots = await read_together(self._client, [reference, workspace_at], transaction)
        stored = snapshots[reference.path].to_dict()
        if stored is not None:
            if (stored.get("owner"), stored.get("created_at")) == (agent.owner, agent.created_at):
                return  # an earlier attempt was committed, and its answer lost
            raise ValueError("the agent exists already")
        check_workspace(snapshots[workspace_at.path], owner=agent.owner)
        there = await documents.read_all(Agent, self._query(agent.owner, agent.workspace), transaction)
        check_limit(len(_complete(there, agent.owner, agent.workspace)), most, of="agents", owner="a workspace")
        transaction.create(reference, documents.write(agent))
        keyed.store_completion(transaction, self._places, answered)

    @in_transaction
    async def update(self, transaction: Transaction, agent: Agent, fields: Collection[str], *, since: datetime) -> bool:
        reference = self._places.locate_agent(agent.id)
        snapshot = await reference.get(transaction=transaction)
        stored = read_agent(snapshot, owner=agent.owner, workspace=agent.workspace)
        if stored is None:
            return False
        if stored.updated_at != since:
            raise StaleError("changed by somebody else")
        if snapshot.exists:
            transaction.update(reference, documents.write_fields(agent, *fields, "updated_at"))
        else:
            workspace = await self._places.locate_workspace(agent.workspace).get(transaction=transaction)
            check_workspace(workspace, owner=agent.owner)
            unchanged = documents.write(build_default_agent(agent.owner, agent.workspace))
            transaction.create(reference, {**unchanged, **documents.write_fields(agent, *fields, "updated_at")})
        return True

    @in_transaction
    async def delete(self, transaction: Transaction, agent: str, *, owner: str, workspace: str) -> bool:
        reference = self._places.locate_agent(agent)
        snapshot = await reference.get(transaction=transaction)
        if not snapshot.exists or read_agent(snapshot, owner=owner, workspace=workspace) is None:
            return False
        transaction.delete(reference)
        return True

    def _query(self, owner: str, workspace: str) -> Any:
        return filter_by(self._client.collection("agents"), ("owner", "==", owner), ("workspace", "==", workspace))


def _complete(stored: list[Agent], owner: str, workspace: str) -> list[Agent]:
    """Return the agents with the default one, the oldest first."""
    if not any(agent.is_default for agent in stored):
        stored.append(build_default_agent(owner, workspace))
    return sorted(stored, key=lambda agent: (agent.created_at, agent.id))
