"""Clients: Google's own, for the real endpoints or for those of a local cloud, as the environment says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import grpc
from google.cloud.firestore import AsyncClient, Client
from google.cloud.secretmanager_v1 import SecretManagerServiceAsyncClient, SecretManagerServiceClient
from google.cloud.tasks_v2 import CloudTasksAsyncClient, CloudTasksClient

FIRESTORE = "FIRESTORE_EMULATOR_HOST"
SECRETS = "SECRET_MANAGER_EMULATOR_HOST"
TASKS = "CLOUD_TASKS_EMULATOR_HOST"

C = TypeVar("C")


class Clients:
    """The clients of one environment, each made when it is first asked for; an async one belongs to the loop it is made in.

    A service whose variable is not set is the real one, with the credentials that Google's libraries find.
    """

    def __init__(self, env: Mapping[str, str], project: str | None = None) -> None:
        self._env = env
        self.project = project or env.get("GOOGLE_CLOUD_PROJECT")

    @cached_property
    def firestore(self) -> Client:
        """Firestore."""
        with self._emulator():
            return Client(project=self.project)

    @cached_property
    def firestore_async(self) -> AsyncClient:
        """Firestore, for one event loop."""
        with self._emulator():
            client = AsyncClient(project=self.project)
            _ = client._firestore_api  # made here, while the variable is set
            return client

    @cached_property
    def secrets(self) -> SecretManagerServiceClient:
        """Secret Manager."""
        return self._made(SecretManagerServiceClient, "grpc", SECRETS, grpc.insecure_channel)

    @cached_property
    def secrets_async(self) -> SecretManagerServiceAsyncClient:
        """Secret Manager, for one event loop."""
        return self._made(SecretManagerServiceAsyncClient, "grpc_asyncio", SECRETS, grpc.aio.insecure_channel)

    @cached_property
    def tasks(self) -> CloudTasksClient:
        """Cloud Tasks."""
        return self._made(CloudTasksClient, "grpc", TASKS, grpc.insecure_channel)

    @cached_property
    def tasks_async(self) -> CloudTasksAsyncClient:
        """Cloud Tasks, for one event loop."""
        return self._made(CloudTasksAsyncClient, "grpc_asyncio", TASKS, grpc.aio.insecure_channel)

    def close(self) -> None:
        """Close the clients that do not belong to a loop."""
        made = vars(self)
        if "firestore" in made:
            made["firestore"].close()
        for name in ("secrets", "tasks"):
            if name in made:
                made[name].transport.close()

    async def aclose(self) -> None:
        """Close all clients, inside the loop of the async ones."""
        self.close()
        made = vars(self)
        transports = [made[name].transport for name in ("secrets_async", "tasks_async") if name in made]
        if "firestore_async" in made:
            transports.append(made["firestore_async"]._firestore_api.transport)
        for transport in transports:
            await transport.close()

    def _made(self, wanted: type[C], kind: str, variable: str, channel: Callable[[str], Any]) -> C:
        client: Any = wanted
        host = self._env.get(variable)
        # These know no variable of their own, and an endpoint alone would be spoken to over TLS.
        made: C = client(transport=client.get_transport_class(kind)(channel=channel(host))) if host else client()
        return made

    @contextmanager
    def _emulator(self) -> Iterator[None]:
        # Firestore's client reads the process's variable while it is made, and nothing else.
        before, host = os.environ.pop(FIRESTORE, None), self._env.get(FIRESTORE)
        try:
            if host:
                os.environ[FIRESTORE] = host
            yield
        finally:
            os.environ.pop(FIRESTORE, None)
            if before is not None:
                os.environ[FIRESTORE] = before


def clients(env: Mapping[str, str] = os.environ, *, project: str | None = None) -> Clients:
    """The clients for `env`, of the project that it names, or of another."""
    return Clients(env, project)
