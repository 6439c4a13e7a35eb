"""Owners in Firestore: their documents, API keys by digest, the ledger of their credits, and their open streams."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.conversation import ConversationBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.owners import stream as rules
from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.gcp import documents
from ferryman.gcp.console_sessions import list_of_key
from ferryman.gcp.store import FirestoreStore, Transaction, filter_by, in_transaction, read_together


class FirestoreOwners(FirestoreStore):
    """`ports.Owners`; `add`, `rekey` and `list` are for the operator, and no function needs them."""

    async def get(self, owner: str) -> Owner | None:
        return documents.read_or_none(Owner, await self._places.locate_owner(owner).get())

    async def put(self, owner: Owner) -> None:
        await self._places.locate_owner(owner.id).set(documents.write(owner))

    async def add_key(self, digest: str, owner: str, at: datetime) -> None:
        await self._places.locate_key(digest).create(documents.write(ApiKey(owner=owner, created_at=at)))

    @in_transaction
    async def add(self, transaction: Transaction, owner: Owner, digest: str) -> bool:
        """Store a new owner with the API key of this digest. Return False, with nothing stored, where the name exists."""
        reference, key = self._places.locate_owner(owner.id), self._places.locate_key(digest)
        snapshots = await read_together(self._client, [reference, key], transaction)
        if snapshots[reference.path].exists:
            return snapshots[key.path].exists  # then an earlier attempt was committed, and its answer lost
        transaction.create(reference, documents.write(owner))
        transaction.create(key, documents.write(ApiKey(owner=owner.id, created_at=owner.created_at)))
        return True

    @in_transaction
    async def rekey(self, transaction: Transaction, owner: str, digest: str, at: datetime) -> None:
        """Make this the only API key of `owner` themselves: any other is refused from now on, and those of people stay.

        Raise KeyError for an unknown owner.
        """
        keys = filter_by(self._client.collection("api_keys"), ("owner", "==", owner))
        if not (await self._places.locate_owner(owner).get(transaction=transaction)).exists:
            raise KeyError(owner)
        stored = [snapshot async for snapshot in keys.stream(transaction=transaction)]
        owners_keys = [snapshot for snapshot in stored if not documents.read(ApiKey, snapshot.to_dict()).person]
        sessions = [await list_of_key(self._places, snapshot.id, transaction) for snapshot in owners_keys]
        for reference in [*(snapshot.reference for snapshot in owners_keys), *chain.from_iterable(sessions)]:
            transaction.delete(reference)
        transaction.create(self._places.locate_key(digest), documents.write(ApiKey(owner=owner, created_at=at)))

    async def list(self) -> Sequence[Owner]:
        """Return all owners, the oldest first."""
        owners = await documents.read_all(Owner, self._client.collection("owners"))
        return sorted(owners, key=lambda owner: (owner.created_at, owner.id))


class FirestoreLedger(FirestoreStore):
    """`ports.Ledger`: an entry is created in the transaction that it records, and never changed."""

    async def balance(self, balance: str) -> CreditBalance:
        snapshot = await self._places.locate_balance(balance).get()
        return documents.read_or_none(CreditBalance, snapshot) or CreditBalance(id=balance)

    async def list_conversations(self, workspace: str, *, most: int) -> Sequence[ConversationBalance]:
        query = filter_by(self._client.collection("conversation_balances"), ("workspace", "==", workspace))
        return await documents.read_all(ConversationBalance, query.order_by("updated_at", direction="DESCENDING").limit(most))

    async def of_execution(self, execution: str) -> Sequence[LedgerEntry]:
        query = filter_by(self._client.collection("ledger"), ("execution", "==", execution))
        return sorted(await documents.read_all(LedgerEntry, query), key=lambda entry: entry.at)

    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[LedgerEntry]:
        conditions = ("owner", "==", owner), ("at", ">=", since), ("at", "<", until)
        query = filter_by(self._client.collection("ledger"), *conditions).order_by("at")
        return await documents.read_all(LedgerEntry, query)


class FirestoreStreams(FirestoreStore):
    """`ports.Streams`: a document an owner, so that they are counted over all instances."""

    @in_transaction
    async def hold(
        self, transaction: Transaction, owner: str, stream: str, *, now: datetime, until: datetime, most: int
    ) -> bool:
        reference = self._places.locate_streams(owner)
        stored = (await reference.get(transaction=transaction)).to_dict() or {}
        streams = rules.hold_stream(stored.get("held", {}), stream, now=now, until=until, most=most)
        if streams is None:
            return False
        transaction.set(reference, {"held": dict(streams)})
        return True

    async def release(self, owner: str, stream: str) -> None:
        from google.cloud.firestore import DELETE_FIELD

        await self._places.locate_streams(owner).set({"held": {stream: DELETE_FIELD}}, merge=True)
