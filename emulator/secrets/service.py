"""The service: which method does what, and when it opens and closes."""

from pathlib import Path

import grpc
from google.cloud import secretmanager_v1 as proto

from emulator import rpc
from emulator.clock import EmulatorClock
from emulator.secrets.secrets import Secrets
from emulator.secrets.store import SCHEMA, SecretStore
from emulator.secrets.versions import SecretVersions
from emulator.storage import open_store

NAME = "google.cloud.secretmanager.v1.SecretManagerService"


class SecretManagerEmulator:
    """Secret Manager, durable in the folder `path`; in memory for None."""

    def __init__(self, *, path: Path | None, clock: EmulatorClock) -> None:
        self._store = SecretStore(open_store(path, "secrets", SCHEMA))
        self._secrets = Secrets(self._store, clock)
        self._versions = SecretVersions(self._store, clock, self._secrets)

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the service, to be added to a gRPC server."""
        secrets, versions = self._secrets, self._versions
        return rpc.service(
            NAME,
            {
                "CreateSecret": (secrets.create, proto.CreateSecretRequest.pb()),
                "GetSecret": (secrets.get, proto.GetSecretRequest.pb()),
                "ListSecrets": (secrets.list, proto.ListSecretsRequest.pb()),
                "UpdateSecret": (secrets.update, proto.UpdateSecretRequest.pb()),
                "DeleteSecret": (secrets.delete, proto.DeleteSecretRequest.pb()),
                "AddSecretVersion": (versions.add, proto.AddSecretVersionRequest.pb()),
                "GetSecretVersion": (versions.get, proto.GetSecretVersionRequest.pb()),
                "ListSecretVersions": (versions.list, proto.ListSecretVersionsRequest.pb()),
                "AccessSecretVersion": (versions.access, proto.AccessSecretVersionRequest.pb()),
                "EnableSecretVersion": (versions.enable, proto.EnableSecretVersionRequest.pb()),
                "DisableSecretVersion": (versions.disable, proto.DisableSecretVersionRequest.pb()),
                "DestroySecretVersion": (versions.destroy, proto.DestroySecretVersionRequest.pb()),
            },
        )

    async def start(self) -> None:
        """Do nothing: no task runs in the background here, and all services of the local cloud start alike."""

    async def close(self) -> None:
        """Close the file."""
        self._store.close()
