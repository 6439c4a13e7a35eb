"""Owners of a local stack: added and listed beside it, through Google's own clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from ferryman.domain.credits.balance import CreditBalance, name_owner_balance
from ferryman.domain.ids import is_id
from ferryman.domain.owners.owner import Owner
from ferryman.domain.problem import build_input_error
from ferryman.gcp.owners import FirestoreLedger, FirestoreOwners
from ferryman.stack import provision


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerDirectory:
    """The owners of a deployment, as its operator sees them."""

    owners: FirestoreOwners
    ledger: FirestoreLedger

    async def list_owners(self) -> Sequence[tuple[Owner, CreditBalance]]:
        """Return all owners, oldest first, with what they have spent this month."""
        now = datetime.now(UTC)
        return [
            (owner, (await self.ledger.balance(name_owner_balance(owner.id))).at(now)) for owner in await self.owners.list()
        ]


@asynccontextmanager
async def open_owners(env: Mapping[str, str]) -> AsyncIterator[OwnerDirectory]:
    """Yield the owners of the stack whose local cloud has the variables `env`."""
    clients = provision.connect(env)
    try:
        yield OwnerDirectory(owners=FirestoreOwners(clients), ledger=FirestoreLedger(clients))
    finally:
        await clients.close()


async def add_owner(owners: FirestoreOwners, name: str, *, plan: str, plans: Sequence[str], digest: str) -> Owner:
    """Add an owner on `plan`, one of `plans`, with the API key whose digest this is. Raise `InvalidInputError`, with
    nothing stored."""
    if not is_id(name):
        raise build_input_error("name", "must be letters, digits, '-' and '_', start with a letter or digit, at most 64")
    if plan not in plans:
        raise build_input_error("plan", f"is not a known plan; known are: {', '.join(plans)}")
    owner = Owner(id=name, plan=plan, created_at=datetime.now(UTC))
    if not await owners.add(owner, digest):
        raise build_input_error("name", "is an owner's already")
    return owner
