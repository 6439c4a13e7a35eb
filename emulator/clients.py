"""Clients: Google's own, for the real endpoints or for those of a local cloud, as the environment says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import AsyncClient, Client
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient, FirestoreClient
from google.cloud.secretmanager_v1 import SecretManagerServiceAsyncClient, SecretManagerServiceClient
from google.cloud.tasks_v2 import CloudTasksAsyncClient, CloudTasksClient

from emulator.access import find_token
from emulator.channels import open_aio_channel, open_channel

FIRESTORE = "FIRESTORE_EMULATOR_HOST"
SECRETS = "SECRET_MANAGER_EMULATOR_HOST"
TASKS = "CLOUD_TASKS_EMULATOR_HOST"

C = TypeVar("C")
Connect = Callable[[str, str | None], Any]


class EmulatorClients:
    """The clients of one environment, each made when it is first asked for; an async one belongs to the loop it is made in.

    A service whose variable is not set is the real one, with the credentials that Google's libraries find.
    """

    def __init__(self, env: Mapping[str, str], project: str | None = None) -> None:
        self._env = env
        self.project = project or env.get("GOOGLE_CLOUD_PROJECT")

    @cached_property
    def firestore(self) -> Client:
        """Firestore."""
        return self._build_firestore(Client, FirestoreClient, "grpc", open_channel)

    @cached_property
    def firestore_async(self) -> AsyncClient:
        """Firestore, for one event loop."""
        return self._build_firestore(AsyncClient, FirestoreAsyncClient, "grpc_asyncio", open_aio_channel)

    @cached_property
    def secrets(self) -> SecretManagerServiceClient:
        """Secret Manager."""
        return self._build(SecretManagerServiceClient, "grpc", SECRETS, open_channel)

    @cached_property
    def secrets_async(self) -> SecretManagerServiceAsyncClient:
        """Secret Manager, for one event loop."""
        return self._build(SecretManagerServiceAsyncClient, "grpc_asyncio", SECRETS, open_aio_channel)

    @cached_property
    def tasks(self) -> CloudTasksClient:
        """Cloud Tasks."""
        return self._build(CloudTasksClient, "grpc", TASKS, open_channel)

    @cached_property
    def tasks_async(self) -> CloudTasksAsyncClient:
        """Cloud Tasks, for one event loop."""
        return self._build(CloudTasksAsyncClient, "grpc_asyncio", TASKS, open_aio_channel)

    def close(self) -> None:
        """Close the clients that do not belong to a loop."""
        built = vars(self)
        if "firestore" in built:
            built["firestore"].close()
        for name in ("secrets", "tasks"):
            if name in built:
                built[name].transport.close()

    async def aclose(self) -> None:
        """Close all clients, inside the loop of the async ones."""
        self.close()
        built = vars(self)
        transports = [built[name].transport for name in ("secrets_async", "tasks_async") if name in built]
        if "firestore_async" in built:
            transports.append(built["firestore_async"]._firestore_api.transport)
        for transport in transports:
            await transport.close()

    def _build(self, client_class: type[C], kind: str, variable: str, connect: Connect) -> C:
        client: Any = client_class
        host = self._env.get(variable)
        # These know no variable of their own, and an endpoint alone would be spoken to over TLS.
        built: C = self._attach(client, kind, connect(host, find_token(self._env))) if host else client()
        return built

    def _build_firestore(self, client_class: type[C], service: Any, kind: str, connect: Connect) -> C:
        client: Any = client_class
        host = self._env.get(FIRESTORE)
        before = os.environ.pop(FIRESTORE, None)  # the process's own variable, which it would believe instead of ours
        try:
            built: Any = client(project=self.project, **({"credentials": AnonymousCredentials()} if host else {}))  # type: ignore[no-untyped-call]  # google-auth has no types
        finally:
            if before is not None:
                os.environ[FIRESTORE] = before
        if host:
            # Google's own emulator, at an address of its own, is not shown what opens ours.
            token = find_token(self._env) if host == self._env.get(SECRETS) else None
            built._firestore_api_internal = self._attach(service, kind, connect(host, token))
        returned: C = built
        return returned

    @staticmethod
    def _attach(service: Any, kind: str, opened: Any) -> Any:
        return service(transport=service.get_transport_class(kind)(channel=opened))


def build_clients(env: Mapping[str, str] = os.environ, *, project: str | None = None) -> EmulatorClients:
    """Return the clients for `env`, of the project that it names, or of another."""
    return EmulatorClients(env, project)
