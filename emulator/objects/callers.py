"""Callers: who sends a request, by its token or the key that signed it, and what that one may do."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from emulator.access import PortToken
from emulator.objects import signatures
from emulator.objects.accounts import AccountKeys
from emulator.objects.errors import StorageError, denied, unauthenticated
from emulator.permissions import Grants

OPERATOR = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageCaller:
    """One who calls. Without `grants` everything may be done: the operator's, or a local cloud without permissions.

    `key` is the id of the access key, whose secret is derived from the token; `email` is the account.
    """

    key: str
    token: PortToken
    email: str
    project: str
    grants: Grants | None = None

    @property
    def secret(self) -> str:
        """The secret of the access key."""
        return derive_secret(self.token.value)

    def check(self, permission: str, bucket: str) -> None:
        """Raise StorageError unless the permission is one of the objects of a bucket that it may administer."""
        if self.grants is None or (permission.startswith("storage.objects.") and bucket in self.grants.buckets):
            return
        raise denied(permission, bucket)


def derive_secret(token: str) -> str:
    """Return the secret of the access key of whom this token belongs to."""
    return PortToken(token).derive("s3").value


class CallerCheck:
    """Tells who sends a request to a port. The token and the access key are those of its caller; a signed URL is good at every
    port, and does what its signer may."""

    def __init__(self, caller: StorageCaller, accounts: Mapping[str, StorageCaller], keys: AccountKeys) -> None:
        self._caller = caller
        self._accounts = accounts
        self._keys = keys

    def identify(self, request: Request, now: datetime) -> tuple[StorageCaller, signatures.RequestSignature | None]:
        """Return who it is, and the signature where it is one; raise StorageError for anybody else."""
        signature = signatures.read_signature(request)
        if signature is None:
            values = request.headers.getlist("authorization")
            if len(values) == 1 and self._caller.token.is_borne(values[0]):
                return self._caller, None
            raise unauthenticated()
        signatures.check_time(signature, now)
        if signature.algorithm == signatures.AWS:
            if signature.signer != self._caller.key:
                message = "The access key you provided is not the one of this port."
                raise StorageError(403, "forbidden", "InvalidAccessKeyId", message)
            text = signatures.build_string_to_sign(request, signature)
            expected = signatures.sign(self._caller.secret, signature, text)
            if not hmac.compare_digest(expected.encode(), signature.signature.encode()):
                raise signatures.mismatch()
            return self._caller, signature
        signer = self._accounts.get(signature.signer)
        if signer is None or not self._is_signed(request, signature):
            raise signatures.mismatch()
        return signer, signature

    def _is_signed(self, request: Request, signature: signatures.RequestSignature) -> bool:
        try:
            signed = bytes.fromhex(signature.signature)
        except ValueError:
            return False
        return self._keys.verify(signature.signer, signatures.build_string_to_sign(request, signature), signed)
