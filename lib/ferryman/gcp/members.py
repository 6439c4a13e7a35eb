"""Members in Firestore: a document for each person, and for each membership."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ferryman.domain.jobs.job import Job
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.person import (
    Person,
    check_admin_left,
)
from ferryman.gcp import documents
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, filter_by, in_transaction, read_together


class FirestoreMembers(FirestoreStore):
    """`ports.Members`."""

    async def get(self, person: str, *, owner: str, workspace: str) -> Membership | None:
        known = documents.read_or_none(Membership, await self._places.locate_membership(workspace, person).get())
        return known if known is not None and known.owner == owner else None

    async def find_person(self, person: str, *, owner: str) -> Person | None:
        known = documents.read_or_none(Person, await self._places.locate_person(person).get())
        return known if known is not None and known.owner == owner else None

    async def list(self, owner: str, workspace: str) -> Sequence[tuple[Membership, Person | None]]:
        here = sorted(await self._find_all(owner, workspace), key=lambda known: (known.created_at, known.person))
        references = [self._places.locate_person(known.person) for known in here]
        people = await read_together(self._client, references) if references else {}
        return [
            (known, documents.read_or_none(Person, people[reference.path]))
            for known, reference in zip(here, references, strict=True)
        ]

    @in_transaction
    async def update(
        self, transaction: Transaction, membership: Membership, fields: Collection[str], *, forced: bool = False
    ) -> bool:
        all_here = await self._find_all(membership.owner, membership.workspace, transaction)
        stored = next((known for known in all_here if known.person == membership.person), None)
        if stored is None:
            return False
        changes: dict[str, Any] = {name: getattr(membership, name) for name in fields}
        if not forced:
            check_admin_left(all_here, stored, replace(stored, **changes))
        reference = self._places.locate_membership(membership.workspace, membership.person)
        transaction.update(reference, documents.write_fields(membership, *fields))
        return True

    @in_transaction
    async def remove(
        self,
        transaction: Transaction,
        person: str,
        *,
        owner: str,
        workspace: str,
        forced: bool = False,
        job: Job | None = None,
    ) -> bool:
        all_here = await self._find_all(owner, workspace, transaction)
        stored = next((known for known in all_here if known.person == person), None)
        if stored is None:
            # an earlier attempt may have been committed, and its answer lost
            return job is not None and (await self._places.locate_job(job.id).get(transaction=transaction)).exists
        if not forced:
            check_admin_left(all_here, stored, None)
        others = filter_by(self._client.collection("memberships"), ("person", "==", person))
        is_last = len([snapshot async for snapshot in others.stream(transaction=transaction)]) == 1
        ended = [
            *await self._find_belonging(transaction, "api_keys", workspace, "person", person),
            *await self._find_belonging(transaction, "console_sessions", workspace, "person", person),
            *await self._find_belonging(transaction, "sign_in_links", workspace, "person", person),
            *await self._find_belonging(transaction, "invitations", workspace, "invited_by", person),
            self._places.locate_membership(workspace, person),
            *([self._places.locate_person(person)] if is_last else []),
        ]
        for reference in ended:
            transaction.delete(reference)
        if job is not None:
            transaction.create(self._places.locate_job(job.id), documents.write(job))
        return True

    async def _find_belonging(
        self, transaction: Transaction, collection: str, workspace: str, field: str, person: str
    ) -> Sequence[Reference]:
        query = filter_by(self._client.collection(collection), ("workspace", "==", workspace), (field, "==", person))
        return [snapshot.reference async for snapshot in query.stream(transaction=transaction)]

    async def _find_all(self, owner: str, workspace: str, transaction: Transaction | None = None) -> Sequence[Membership]:
        query = filter_by(self._client.collection("memberships"), ("workspace", "==", workspace))
        return [known for known in await documents.read_all(Membership, query, transaction) if known.owner == owner]
