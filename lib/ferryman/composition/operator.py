"""The composition root of an operator: who runs a deployment has its keys, its switch and its functions, wherever it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.functions import FunctionClient
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.http import HttpClient
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.remote import RemoteResealer
from ferryman.gcp.sealed_inventory import FirestoreSealedInventory
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings
from ferryman.vault import rotate, seal

ROTATOR = "ferryman-keys"
"""The account that a key holder's re-sealing route is open to."""

PAUSE_S = 1.0
SEALING_KEY, RECEIPT_KEY = Settings().sealing_key_secret, Settings().receipt_key_secret
DECISION_KEY, REQUEST_KEY = Settings().api_key_secret, Settings().platform_key_secret

CreateToken = Callable[[str, str], Awaitable[str | None]]
"""Returns an identity token for an account of the deployment and an audience; None where this operator may not have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """What an operator can do. `functions` are addresses by name; `key` is an API key, for what the API itself is asked."""

    project: str
    location: str
    functions: Mapping[str, str]
    key: str
    clients: GoogleClients
    sealing: SecretManagerKeyStore
    receipts: SecretManagerKeyStore
    decisions: SecretManagerKeyStore
    requests: SecretManagerKeyStore
    sealed_inventory: FirestoreSealedInventory
    publication: rotate.Publication
    resealer: RemoteResealer
    token: CreateToken

    async def rekey(self, owner: str, digest: str) -> None:
        """Make the key of this digest the only API key of `owner`. Raise KeyError where there is no such owner."""
        await FirestoreOwners(self.clients).rekey(owner, digest, datetime.now(UTC))

    async def halt(self, *, on: bool) -> None:
        """Set the kill switch over all owners."""
        await FirestoreHalts(self.clients).put(None, on=on, now=datetime.now(UTC))

    def build_rotation(self, key_store: SecretManagerKeyStore, tell: Callable[[str], None]) -> rotate.RotationDependencies:
        """Return what the rotation of the key of `key_store` needs."""
        return rotate.RotationDependencies(
            key_store=key_store,
            sealed_inventory=self.sealed_inventory,
            publication=self.publication,
            resealer=self.resealer,
            clock=SystemClock(),
            pause=lambda: asyncio.sleep(PAUSE_S),
            tell=tell,
        )


def build_operator(
    *,
    project: str,
    location: str,
    functions: Mapping[str, str],
    key: str,
    clients: GoogleClients,
    wire: HttpClient,
    publication: rotate.Publication,
    token: CreateToken,
) -> Operator:
    """Return the operator of the deployment in `project`."""

    async def create_rotator_token(audience: str) -> str:
        created = await token(ROTATOR, audience)
        if created is None:
            raise UnavailableError(f"you may not act as {ROTATOR}; grant yourself roles/iam.serviceAccountTokenCreator on it")
        return created

    return Operator(
        project=project,
        location=location,
        functions=functions,
        key=key,
        clients=clients,
        sealing=SecretManagerKeyStore(clients, project, SEALING_KEY),
        receipts=SecretManagerKeyStore(clients, project, RECEIPT_KEY),
        decisions=SecretManagerKeyStore(clients, project, DECISION_KEY),
        requests=SecretManagerKeyStore(clients, project, REQUEST_KEY),
        sealed_inventory=FirestoreSealedInventory(clients, seal.read_key_version),
        publication=publication,
        resealer=RemoteResealer(FunctionClient(wire, functions, create_rotator_token)),
        token=token,
    )
