"""Workspaces in Firestore: a document each. The default workspace of an owner has one once it was changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credits.alert_message import SECRET_NAME
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.workspace import (
    BEGINNING,
    WORKSPACES_PER_OWNER_MAX,
    Workspace,
    WorkspaceState,
    build_default_workspace,
    order_workspaces,
)
from ferryman.gcp import documents, keyed
from ferryman.gcp.store import FirestoreStore, Transaction, filter_by, in_transaction
from ferryman.gcp.workspace_documents import read_workspace


class FirestoreWorkspaces(FirestoreStore):
    """`ports.Workspaces`."""

    async def get(self, workspace: str, *, owner: str) -> Workspace | None:
        return read_workspace(await self._places.locate_workspace(workspace).get(), owner=owner)

    async def list(self, owner: str) -> Sequence[Workspace]:
        query = filter_by(self._client.collection("workspaces"), ("owner", "==", owner))
        return order_workspaces(owner, await documents.read_all(Workspace, query))

    async def create(
        self,
        workspace: Workspace,
        *,
        most: int = WORKSPACES_PER_OWNER_MAX,
        done: Completion | None = None,
        secret: SealedCredential | None = None,
    ) -> None:
        reference = self._places.locate_workspace(workspace.id)
        await documents.confirm_created(self._create(workspace, most, done, secret), reference, workspace)

    @in_transaction
    async def _create(
        self,
        transaction: Transaction,
        workspace: Workspace,
        most: int,
        done: Completion | None,
        secret: SealedCredential | None,
    ) -> None:
        answered = await keyed.read_completion(transaction, self._places, done)
        query = filter_by(self._client.collection("workspaces"), ("owner", "==", workspace.owner))
        stored = await documents.read_all(Workspace, query, transaction)
        if any((known.id, known.created_at) == (workspace.id, workspace.created_at) for known in stored):
            return  # an earlier attempt was committed, and its answer lost
        check_limit(len(order_workspaces(workspace.owner, stored)), most, of="workspaces")
        transaction.create(self._places.locate_workspace(workspace.id), documents.write(workspace))
        self._store_secret(transaction, secret)
        keyed.store_completion(transaction, self._places, answered)

    @in_transaction
    async def update(
        self,
        transaction: Transaction,
        workspace: Workspace,
        fields: Collection[str],
        *,
        since: datetime,
        secret: SealedCredential | None = None,
    ) -> bool:
        reference = self._places.locate_workspace(workspace.id)
        stored = documents.read_or_none(Workspace, await reference.get(transaction=transaction))
        if stored is None and not workspace.is_default:
            return False
        if stored is not None and stored.state is WorkspaceState.DELETING:
            return False
        if (BEGINNING if stored is None else stored.updated_at) != since:
            raise StaleError("changed by somebody else")
        before = stored or build_default_workspace(workspace.owner)
        changes = {name: getattr(workspace, name) for name in (*fields, "updated_at")}
        transaction.set(reference, documents.write(replace(before, **changes)))
        if "alert_url" in fields and workspace.alert_url is None:
            transaction.delete(self._places.locate_credential(workspace.id, SECRET_NAME))
        self._store_secret(transaction, secret)
        return True

    def _store_secret(self, transaction: Transaction, secret: SealedCredential | None) -> None:
        if secret is not None:
            transaction.set(self._places.locate_credential(secret.label.task, secret.label.name), documents.write(secret))
