"""The operator of a local stack: its functions are given the public halves as a deployment would be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from ferryman.gcp.holdings import FirestoreHoldings
from ferryman.gcp.http import Wire
from ferryman.gcp.resealing import RESEALS, RemoteResealer
from ferryman.gcp.ring import SecretManagerRing
from ferryman.vault import seal
from ferryman.wiring.local import environment, provision
from ferryman.wiring.local.admin import Admin
from ferryman.wiring.operator import RECEIPT_KEY, ROTATOR, SEALING_KEY, Operator

SEALS = ("api", "orchestrator")
"""The functions that have a public half: the one seals credentials, the other calls."""


class Restarts:
    """`rotate.Publication`: functions are started anew with other variables; the ones before are ended by then."""

    drains = timedelta(0)

    def __init__(self, admin: Admin, wire: Wire, url: str, key: str) -> None:
        self._admin = admin
        self._wire = wire
        self._keys = f"{url}/v1/receipt-keys", {"Authorization": f"Bearer {key}"}

    async def sealing(self, public: str) -> None:
        await self._change({"FERRYMAN_SEALING_PUBLIC_KEY": public})

    async def receipts(self, public: Mapping[int, str]) -> None:
        await self._change({"FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps({str(each): half for each, half in public.items()})})

    async def receipts_served(self) -> Mapping[int, str]:
        url, headers = self._keys
        answer = await self._wire.client().get(url, headers=headers)
        return {int(version): half for version, half in answer.raise_for_status().json()["keys"].items()}

    async def _change(self, env: Mapping[str, str]) -> None:
        await asyncio.gather(*(self._admin.change(each, env) for each in SEALS))


@asynccontextmanager
async def opened(note: Mapping[str, Any], key: str) -> AsyncIterator[Operator]:
    """The operator of the stack that noted this. Raises httpx's TransportError at once when it does not answer."""
    project, wire = note["project"], Wire()
    async with Admin(note["admin"]) as admin:
        await admin.status()  # Google's clients take minutes to say so
        clients = provision.connect(note["env"])

        async def token(identity: str, audience: str) -> str:
            return await admin.token(environment.account(identity, project), audience)

        try:
            yield Operator(
                project=project,
                location=environment.LOCATION,
                functions=note["functions"],
                key=key,
                clients=clients,
                sealing=SecretManagerRing(clients, project, SEALING_KEY),
                receipts=SecretManagerRing(clients, project, RECEIPT_KEY),
                holdings=FirestoreHoldings(clients, seal.version_of),
                publication=Restarts(admin, wire, note["url"], key),
                resealer=RemoteResealer(wire, note["functions"][RESEALS], lambda audience: token(ROTATOR, audience)),
                token=token,
            )
        finally:
            await wire.close()
            await clients.close()
