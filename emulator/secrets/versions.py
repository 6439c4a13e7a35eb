"""What may be asked about a secret's versions: to add, access, list, enable, disable and destroy them."""

import re
from typing import Any

from google.cloud import secretmanager_v1
from google_crc32c import value as crc32c
from grpc import StatusCode

from emulator import rpc
from emulator.clock import EmulatorClock
from emulator.rpc import RpcError, invalid
from emulator.secrets.secrets import PAGE, Secrets, check_etag, new_etag
from emulator.secrets.store import SecretStore, Version

PAYLOAD = 64 * 1024
"""Bytes in a version at most."""
NAME = re.compile(r"(projects/[^/]+(?:/locations/[^/]+)?/secrets/[^/]+)/versions/([^/]+)")
State = secretmanager_v1.SecretVersion.State
VersionsPage = secretmanager_v1.ListSecretVersionsResponse.pb()
Accessed = secretmanager_v1.AccessSecretVersionResponse.pb()


class SecretVersions:
    """Each method takes and returns the service's own messages, and raises RpcError."""

    def __init__(self, store: SecretStore, clock: EmulatorClock, secrets: Secrets) -> None:
        self._store = store
        self._clock = clock
        self._secrets = secrets

    def add(self, request: Any) -> Any:
        self._secrets.find(request.parent)
        payload = request.payload
        if not payload.data:
            raise invalid("Secret Payload cannot be empty.")
        if len(payload.data) > PAYLOAD:
            raise invalid(f"Secret Payload is larger than {PAYLOAD} bytes.")
        checked = payload.HasField("data_crc32c")
        if checked and payload.data_crc32c != crc32c(payload.data):
            raise invalid("The data_crc32c does not match the payload.")
        number = self._store.newest(request.parent) + 1
        version = Version(
            name=f"{request.parent}/versions/{number}",
            state=State.ENABLED,
            etag=new_etag(),
            client_specified_payload_checksum=checked,
        )
        version.create_time.FromDatetime(self._clock.now())
        self._store.add_version(request.parent, number, version, payload.data)
        return version

    def get(self, request: Any) -> Any:
        return self._find(request.name)[2]

    def list(self, request: Any) -> Any:
        if request.filter:
            raise RpcError(StatusCode.UNIMPLEMENTED, "Filters are not supported here.")
        self._secrets.find(request.parent)
        total = self._store.count_versions(request.parent)
        size, start, following = rpc.page(request, total, most=PAGE)
        version = self._store.versions(request.parent, size, start)
        return VersionsPage(versions=version, next_page_token=following, total_size=total)

    def access(self, request: Any) -> Any:
        _, _, version, payload = self._find(request.name)
        if version.state != State.ENABLED or payload is None:
            raise _in_state(version)
        return Accessed(name=version.name, payload={"data": payload, "data_crc32c": crc32c(payload)})

    def enable(self, request: Any) -> Any:
        return self._set(request, State.ENABLED)

    def disable(self, request: Any) -> Any:
        return self._set(request, State.DISABLED)

    def destroy(self, request: Any) -> Any:
        return self._set(request, State.DESTROYED)

    def _set(self, request: Any, state: int) -> Any:
        secret, number, version, _ = self._find(request.name)
        if version.state == State.DESTROYED:
            raise _in_state(version)
        check_etag(request.etag, version.etag)
        version.state = state
        version.etag = new_etag()
        if state == State.DESTROYED:
            version.destroy_time.FromDatetime(self._clock.now())
            self._store.destroy(secret, number, version)
        else:
            self._store.keep_version(secret, number, version)
        return version

    def _find(self, name: str) -> tuple[str, int, Any, bytes | None]:
        parts = NAME.fullmatch(name)
        if parts is None:
            raise invalid(f"The name [{name}] is not of the form projects/*/secrets/*/versions/*.")
        secret, which = self._secrets.find(parts[1]), parts[2]
        if which == "latest":
            number = self._store.newest(secret.name)
        elif re.fullmatch("[0-9]{1,18}", which):
            number = int(which)
        else:
            number = secret.version_aliases.get(which, 0)
        version = self._store.version(secret.name, number)
        if version is None:
            raise RpcError(StatusCode.NOT_FOUND, f"Secret Version [{name}] not found or has no versions.")
        return secret.name, number, *version


def _in_state(version: Any) -> RpcError:
    state = State(version.state).name
    return RpcError(StatusCode.FAILED_PRECONDITION, f"Secret Version [{version.name}] is in {state} state.")
