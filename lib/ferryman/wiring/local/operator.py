"""The operator of a local stack: its keys rotated, and its functions given the public halves, as a deployment would be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ferryman.gcp.clients import Clients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.holdings import FirestoreHoldings
from ferryman.gcp.http import Wire
from ferryman.gcp.resealing import RESEALS, RemoteResealer
from ferryman.gcp.ring import SecretManagerRing
from ferryman.settings import Settings
from ferryman.vault import rotate, seal
from ferryman.wiring.local import environment, provision
from ferryman.wiring.local.admin import Admin

SEALS = ("api", "orchestrator")
"""The functions that have a public half: the one seals credentials, the other calls."""

ROTATOR = "ferryman-keys"
"""The account that a key holder's re-sealing route is open to."""

PAUSE_S = 1.0
SEALING_KEY, RECEIPT_KEY = Settings().sealing_key_secret, Settings().receipt_key_secret


class Restarts:
    """`rotate.Publication`: functions are started anew with other variables; the ones before are ended by then."""

    drains = timedelta(0)

    def __init__(self, admin: Admin, served: Callable[[], Any]) -> None:
        self._admin = admin
        self._served = served

    async def sealing(self, public: str) -> None:
        await self._change({"FERRYMAN_SEALING_PUBLIC_KEY": public})

    async def receipts(self, public: Mapping[int, str]) -> None:
        await self._change({"FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps({str(each): half for each, half in public.items()})})

    async def receipts_served(self) -> Mapping[int, str]:
        return {int(version): half for version, half in (await self._served()).items()}

    async def _change(self, env: Mapping[str, str]) -> None:
        await asyncio.gather(*(self._admin.change(each, env) for each in SEALS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """What whoever runs a house has of it besides its API."""

    project: str
    functions: Mapping[str, str]
    clients: Clients
    admin: Admin
    sealing: SecretManagerRing
    receipts: SecretManagerRing
    holdings: FirestoreHoldings
    publication: Restarts
    resealer: RemoteResealer

    def house(self, ring: SecretManagerRing, tell: Callable[[str], None]) -> rotate.House:
        """A house to rotate the keys of `ring` in."""
        return rotate.House(
            ring=ring,
            holdings=self.holdings,
            publication=self.publication,
            resealer=self.resealer,
            clock=SystemClock(),
            pause=lambda: asyncio.sleep(PAUSE_S),
            tell=tell,
        )

    async def token(self, identity: str, audience: str) -> str:
        """An identity token of an account of this house."""
        return await self.admin.token(environment.account(identity, self.project), audience)


@asynccontextmanager
async def opened(note: Mapping[str, Any], served: Callable[[], Any]) -> AsyncIterator[Operator]:
    """The operator of the stack that noted this; `served` fetches the public receipt keys that its API hands out."""
    project, clients, wire = note["project"], provision.connect(note["env"]), Wire()
    async with Admin(note["admin"]) as admin:

        async def token(audience: str) -> str:
            return await admin.token(environment.account(ROTATOR, project), audience)

        try:
            yield Operator(
                project=project,
                functions=note["functions"],
                clients=clients,
                admin=admin,
                sealing=SecretManagerRing(clients, project, SEALING_KEY),
                receipts=SecretManagerRing(clients, project, RECEIPT_KEY),
                holdings=FirestoreHoldings(clients, seal.version_of),
                publication=Restarts(admin, served),
                resealer=RemoteResealer(wire, note["functions"][RESEALS], token),
            )
        finally:
            await wire.close()
            await clients.close()
