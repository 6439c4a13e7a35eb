"""What may be asked about a secret itself: to create, get, list, update and delete it."""

import re
import secrets
from typing import Any

from google.cloud import secretmanager_v1
from google.protobuf.empty_pb2 import Empty
from grpc import StatusCode

from emulator import rpc
from emulator.clock import EmulatorClock
from emulator.rpc import RpcError, invalid
from emulator.secrets.store import Secret, SecretStore

PARENT = re.compile(r"projects/[^/]+(/locations/[^/]+)?")
PAGE = 25_000
UPDATABLE = {
    "labels", "annotations", "version_aliases", "topics", "expire_time", "ttl", "rotation", "version_destroy_ttl", "etag",
}  # fmt: skip
UNSUPPORTED = ("ttl", "expire_time", "version_destroy_ttl")
"""What would change when a secret lives; better refused than kept and not done."""
SecretsPage = secretmanager_v1.ListSecretsResponse.pb()


class Secrets:
    """Each method takes and returns the service's own messages, and raises RpcError."""

    def __init__(self, store: SecretStore, clock: EmulatorClock) -> None:
        self._store = store
        self._clock = clock

    def create(self, request: Any) -> Any:
        if not PARENT.fullmatch(request.parent):
            raise invalid(f"The parent [{request.parent}] is not of the form projects/*.")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,255}", request.secret_id):
            raise invalid("The secret_id must be 1 to 255 letters, digits, hyphens and underscores.")
        if "/locations/" not in request.parent and not request.secret.replication.WhichOneof("replication"):
            raise invalid("The field secret.replication is required.")
        check(request.secret)
        name = f"{request.parent}/secrets/{request.secret_id}"
        if self._store.secret(name):
            raise RpcError(StatusCode.ALREADY_EXISTS, f"Secret [{name}] already exists.")
        secret = Secret()
        secret.CopyFrom(request.secret)
        secret.name = name
        secret.etag = new_etag()
        secret.create_time.FromDatetime(self._clock.now())
        self._store.add(request.parent, secret)
        return secret

    def get(self, request: Any) -> Any:
        return self.find(request.name)

    def list(self, request: Any) -> Any:
        if request.filter:
            raise RpcError(StatusCode.UNIMPLEMENTED, "Filters are not supported here.")
        total = self._store.count(request.parent)
        size, start, following = rpc.page(request, total, most=PAGE)
        secret = self._store.secrets(request.parent, size, start)
        return SecretsPage(secrets=secret, next_page_token=following, total_size=total)

    def update(self, request: Any) -> Any:
        secret = self.find(request.secret.name)
        check_etag(request.secret.etag, secret.etag)
        for path in request.update_mask.paths:
            if path.split(".")[0] not in UPDATABLE:
                raise invalid(f"The field [{path}] cannot be updated.")
        if not request.update_mask.paths:
            raise invalid("The update_mask is required.")
        check(request.secret)
        try:
            request.update_mask.MergeMessage(request.secret, secret, True, True)
        except (ValueError, KeyError) as error:
            raise invalid("The update_mask names a field that does not exist.") from error
        secret.etag = new_etag()
        self._store.keep(secret)
        return secret

    def delete(self, request: Any) -> Empty:
        check_etag(request.etag, self.find(request.name).etag)
        self._store.remove(request.name)
        return Empty()

    def find(self, name: str) -> Any:
        secret = self._store.secret(name)
        if secret is None:
            raise RpcError(StatusCode.NOT_FOUND, f"Secret [{name}] not found.")
        return secret


def check(secret: Any) -> None:
    """Refuse settings that would be stored and not honoured, and labels beyond what a resource may have."""
    for field in UNSUPPORTED:
        if secret.HasField(field):
            raise RpcError(StatusCode.UNIMPLEMENTED, f"The field secret.{field} is not supported here.")
    if len(secret.labels) > 64:
        raise invalid("A secret has at most 64 labels.")
    for key, value in secret.labels.items():
        if not re.fullmatch(r"[^\W\dA-Z][\w-]{0,62}", key) or not re.fullmatch(r"[\w-]{0,63}", value):
            raise invalid(f"The label [{key}] is not valid.")
        if key != key.lower() or value != value.lower():
            raise invalid(f"The label [{key}] is not in lower case.")


def check_etag(etag_given: str, current: str) -> None:
    """Raise FAILED_PRECONDITION for an etag that is given and is not the current one."""
    if etag_given and etag_given != current:
        raise RpcError(StatusCode.FAILED_PRECONDITION, "The etag provided does not match the current one.")


def new_etag() -> str:
    """Return a value that no earlier state had, quoted as etags are."""
    return f'"{secrets.token_hex(7)}"'
