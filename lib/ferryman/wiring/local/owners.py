"""Owners of a local stack: added and listed beside it, through Google's own clients."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from ferryman.domain.owner import Owner
from ferryman.domain.problem import invalid
from ferryman.domain.purse import Purse, of_owner
from ferryman.gcp.ledger import FirestoreLedger
from ferryman.gcp.owners import FirestoreOwners
from ferryman.wiring.local import provision

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What whoever runs a house keeps of its owners."""

    owners: FirestoreOwners
    ledger: FirestoreLedger

    async def listed(self) -> Sequence[tuple[Owner, Purse]]:
        """All owners, oldest first, with what they have spent this month."""
        now = datetime.now(UTC)
        return [(each, (await self.ledger.purse(of_owner(each.id))).at(now)) for each in await self.owners.list()]


@asynccontextmanager
async def opened(env: Mapping[str, str]) -> AsyncIterator[Stored]:
    """The owners of the stack whose local cloud has the variables `env`."""
    clients = provision.connect(env)
    try:
        yield Stored(owners=FirestoreOwners(clients), ledger=FirestoreLedger(clients))
    finally:
        await clients.close()


async def add(owners: FirestoreOwners, name: str, *, plan: str, plans: Sequence[str], digest: str) -> Owner:
    """A new owner on `plan`, one of `plans`, with the API key whose digest this is. Raises `Invalid`, with nothing stored."""
    if not _NAME.fullmatch(name):
        raise invalid("name", "must be letters, digits, '-' and '_', start with a letter or digit, at most 64")
    if plan not in plans:
        raise invalid("plan", f"is not a known plan; known are: {', '.join(plans)}")
    if await owners.get(name) is not None:
        raise invalid("name", "is an owner's already")
    owner = Owner(id=name, plan=plan, created_at=datetime.now(UTC))
    # the key first: one that leads to nobody opens nothing, and an owner without one could not be added again
    await owners.add_key(digest, name, owner.created_at)
    await owners.put(owner)
    return owner
