"""The operator: what whoever runs a house has of it besides its API, wherever it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ferryman.gcp.clients import Clients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.holdings import FirestoreHoldings
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.resealing import RemoteResealer
from ferryman.gcp.ring import SecretManagerRing
from ferryman.settings import Settings
from ferryman.vault import rotate

ROTATOR = "ferryman-keys"
"""The account that a key holder's re-sealing route is open to."""

PAUSE_S = 1.0
SEALING_KEY, RECEIPT_KEY = Settings().sealing_key_secret, Settings().receipt_key_secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """`functions` are addresses by name; `token` answers an identity token of an account of the house, None where it may not.

    `key` is an API key, for what the API itself is asked.
    """

    project: str
    location: str
    functions: Mapping[str, str]
    key: str
    clients: Clients
    sealing: SecretManagerRing
    receipts: SecretManagerRing
    holdings: FirestoreHoldings
    publication: rotate.Publication
    resealer: RemoteResealer
    token: Callable[[str, str], Awaitable[str | None]]

    async def rekey(self, owner: str, digest: str) -> None:
        """Make the key of this digest the only API key of `owner`. Raises KeyError where there is no such owner."""
        await FirestoreOwners(self.clients).rekey(owner, digest, datetime.now(UTC))

    async def halt(self, *, on: bool) -> None:
        """The kill switch over all owners."""
        await FirestoreHalts(self.clients).put(None, on=on, now=datetime.now(UTC))

    def house(self, ring: SecretManagerRing, tell: Callable[[str], None]) -> rotate.House:
        """A house to rotate the key of `ring` in."""
        return rotate.House(
            ring=ring,
            holdings=self.holdings,
            publication=self.publication,
            resealer=self.resealer,
            clock=SystemClock(),
            pause=lambda: asyncio.sleep(PAUSE_S),
            tell=tell,
        )
