"""API keys in Firestore: a document each, under the SHA-256 of the key."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.owners.owner import Owner
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.access import KeyAccess
from ferryman.domain.workspaces.api_key import KEYS_PER_PERSON_MAX, ApiKey, order_keys
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, build_default_workspace
from ferryman.gcp import documents, keyed
from ferryman.gcp.console_sessions import list_of_key
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, filter_by, in_transaction, read_together


class FirestoreApiKeys(FirestoreStore):
    """`ports.ApiKeys`."""

    async def find(self, digest: str) -> ApiKey | None:
        return documents.read_or_none(ApiKey, await self._places.locate_key(digest).get())

    async def read_access(self, key: ApiKey, workspace: str) -> KeyAccess:
        return self._read_access(key, workspace, await read_together(self._client, [*self._locate(key, workspace)]))

    async def check(self, digest: str, key: ApiKey, workspace: str) -> tuple[ApiKey | None, KeyAccess]:
        reference = self._places.locate_key(digest)
        snapshots = await read_together(self._client, [reference, *self._locate(key, workspace)])
        return documents.read_or_none(ApiKey, snapshots[reference.path]), self._read_access(key, workspace, snapshots)

    async def note_use(self, digest: str, at: datetime) -> None:
        from google.api_core.exceptions import NotFound

        with suppress(NotFound):  # it was revoked meanwhile, and must not come back
            await self._places.locate_key(digest).update({"last_used_at": at})

    @in_transaction
    async def create(
        self,
        transaction: Transaction,
        digest: str,
        key: ApiKey,
        *,
        most: int = KEYS_PER_PERSON_MAX,
        done: Completion | None = None,
    ) -> None:
        reference = self._places.locate_key(digest)
        before = documents.read_or_none(ApiKey, await reference.get(transaction=transaction))
        if before == key:
            return  # an earlier attempt was committed, and its answer lost
        if before is not None:
            raise StaleError("there is one already")
        answered = await keyed.read_completion(transaction, self._places, done)
        if key.person:
            membership = await self._places.locate_membership(key.workspace, key.person).get(transaction=transaction)
            if not membership.exists:
                raise StaleError("the person has left")
        stored = await self._find_all(key.owner, key.workspace, key.person, transaction)
        check_limit(len(stored), most, of="API keys", owner="a member")
        transaction.create(reference, documents.write(key))
        keyed.store_completion(transaction, self._places, answered)

    async def list(self, owner: str, workspace: str, *, person: str | None = None) -> Sequence[ApiKey]:
        return order_keys(key for _, key in await self._find_all(owner, workspace, person))

    @in_transaction
    async def revoke(
        self, transaction: Transaction, key: str, *, owner: str, workspace: str, person: str | None = None
    ) -> bool:
        for reference, known in await self._find_all(owner, workspace, person, transaction):
            if known.id == key:
                for ended in [reference, *await list_of_key(self._places, reference.id, transaction)]:
                    transaction.delete(ended)
                return True
        return False

    async def _find_all(
        self, owner: str, workspace: str, person: str | None, transaction: Transaction | None = None
    ) -> Sequence[tuple[Reference, ApiKey]]:
        # ids of workspaces are unique over owners, and few keys are in one: one index serves
        query = filter_by(self._client.collection("api_keys"), ("workspace", "==", workspace))
        known = [
            (snapshot.reference, documents.read(ApiKey, snapshot.to_dict()))
            async for snapshot in query.stream(transaction=transaction)
        ]
        return [(reference, key) for reference, key in known if key.owner == owner and person in (None, key.person)]

    def _locate(self, key: ApiKey, workspace: str) -> Sequence[Reference]:
        references = [self._places.locate_owner(key.owner)]
        if key.person:
            references.append(self._places.locate_membership(workspace, key.person))
        if workspace != derive_default_workspace(key.owner):
            references.append(self._places.locate_workspace(workspace))
        return references

    def _read_access(self, key: ApiKey, workspace: str, snapshots: dict[str, Snapshot]) -> KeyAccess:
        def read(kind: type[documents.Value], reference: Reference) -> documents.Value | None:
            snapshot = snapshots.get(reference.path)
            return None if snapshot is None else documents.read_or_none(kind, snapshot)

        is_default = workspace == derive_default_workspace(key.owner)
        return KeyAccess(
            owner=read(Owner, self._places.locate_owner(key.owner)),
            workspace=build_default_workspace(key.owner)
            if is_default
            else read(Workspace, self._places.locate_workspace(workspace)),
            membership=read(Membership, self._places.locate_membership(workspace, key.person)) if key.person else None,
        )
