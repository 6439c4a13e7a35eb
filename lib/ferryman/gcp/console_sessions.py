"""Sessions of the console, and the links that sign in, in Firestore: a document each, under its id or its code's digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.console_sessions.link import LINKS_PER_KEY_MAX, SignInLink, order_links
from ferryman.domain.console_sessions.session import SESSIONS_PER_KEY_MAX, ConsoleSession, order_sessions
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents, keyed
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace


class FirestoreConsoleSessions(FirestoreStore):
    """`ports.ConsoleSessions`."""

    @in_transaction
    async def create(self, transaction: Transaction, session: ConsoleSession, *, most: int = SESSIONS_PER_KEY_MAX) -> None:
        reference = self._places.locate_console_session(session.id)
        if await self._is_stored(transaction, reference, session.digest):
            return
        query = filter_by(self._client.collection("console_sessions"), ("digest", "==", session.digest))
        of_key = order_sessions(await documents.read_all(ConsoleSession, query, transaction))
        for known in of_key[: max(len(of_key) - most + 1, 0)]:
            transaction.delete(self._places.locate_console_session(known.id))
        transaction.create(reference, {**documents.write(session), EXPIRE_AT: session.expires_at})

    async def find(self, session: str) -> ConsoleSession | None:
        return documents.read_or_none(ConsoleSession, await self._places.locate_console_session(session).get())

    async def list(self, owner: str, workspace: str, *, person: str | None = None, now: datetime) -> Sequence[ConsoleSession]:
        here = ("owner", "==", owner), ("key_workspace", "==", workspace)
        known = await documents.read_all(ConsoleSession, filter_by(self._client.collection("console_sessions"), *here))
        return order_sessions(item for item in known if person in (None, item.person) and not item.is_expired(now))

    async def revoke(self, session: str, *, owner: str, workspace: str, person: str | None = None) -> bool:
        known = await self.find(session)
        if known is None or (known.owner, known.key_workspace) != (owner, workspace) or person not in (None, known.person):
            return False
        await self._places.locate_console_session(session).delete()
        return True

    @in_transaction
    async def choose_workspace(self, transaction: Transaction, session: str, workspace: str, *, owner: str) -> bool:
        reference = self._places.locate_console_session(session)
        known = documents.read_or_none(ConsoleSession, await reference.get(transaction=transaction))
        if known is None or known.owner != owner or known.key_workspace:
            return False
        if workspace:
            check_workspace(await self._places.locate_workspace(workspace).get(transaction=transaction), owner=owner)
        transaction.update(reference, {"workspace": workspace})
        return True

    @in_transaction
    async def put_link(
        self, transaction: Transaction, link: SignInLink, *, most: int = LINKS_PER_KEY_MAX, done: Completion | None = None
    ) -> None:
        reference = self._places.locate_sign_in_link(link.digest)
        if await self._is_stored(transaction, reference, link.key_digest):
            return
        answered = await keyed.read_completion(transaction, self._places, done)
        query = filter_by(self._client.collection("sign_in_links"), ("key_digest", "==", link.key_digest))
        of_key = order_links(await documents.read_all(SignInLink, query, transaction))
        for known in of_key[: max(len(of_key) - most + 1, 0)]:
            transaction.delete(self._places.locate_sign_in_link(known.digest))
        transaction.create(reference, {**documents.write(link), EXPIRE_AT: link.expires_at})
        keyed.store_completion(transaction, self._places, answered)

    @in_transaction
    async def take_link(self, transaction: Transaction, digest: str, *, now: datetime) -> SignInLink | None:
        reference = self._places.locate_sign_in_link(digest)
        link = documents.read_or_none(SignInLink, await reference.get(transaction=transaction))
        if link is None:
            return None
        transaction.delete(reference)
        return None if link.is_expired(now) else link

    async def _is_stored(self, transaction: Transaction, reference: Reference, key_digest: str) -> bool:
        """Tell whether an earlier attempt was committed, and its answer lost. Raise `StaleError` where the key was revoked."""
        key_at = self._places.locate_key(key_digest)
        stored = await read_together(self._client, [reference, key_at], transaction)
        if not stored[reference.path].exists and not stored[key_at.path].exists:
            raise StaleError("the API key was revoked")
        return stored[reference.path].exists


async def list_of_key(places: Places, digest: str, transaction: Transaction) -> Sequence[Reference]:
    """Return the documents of the sessions and the links of the API key with this `digest`."""
    client = places.client
    sessions = filter_by(client.collection("console_sessions"), ("digest", "==", digest))
    links = filter_by(client.collection("sign_in_links"), ("key_digest", "==", digest))
    return [snapshot.reference for query in (sessions, links) async for snapshot in query.stream(transaction=transaction)]
