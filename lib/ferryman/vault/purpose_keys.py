"""Keys derived from the api's one secret by HKDF (RFC 5869), a key for each purpose: none of them is of use for another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ferryman.ports.errors import DisabledKeyError, UnavailableError
from ferryman.ports.keys import KeyPurpose, PrivateKeys
from ferryman.vault.decision_keys import SECRET_BYTES, select_valid

INFO = b"ferryman %s 1"


class DerivedPurposeKeys:
    """`ports.PurposeKeys`: derived from the valid ones of `versions` of the api's secret."""

    def __init__(self, keys: PrivateKeys, versions: Collection[int]) -> None:
        self._keys = keys
        self._versions = sorted(select_valid(versions), reverse=True)

    async def list(self, purpose: KeyPurpose) -> Mapping[int, bytes]:
        keys: dict[int, bytes] = {}
        for version in self._versions:
            try:
                keys[version] = derive_purpose_key(await self._keys.private(version), purpose)
            except (KeyError, ValueError, DisabledKeyError):
                continue  # what was made with a version that is gone is valid no longer
        if not keys:
            raise UnavailableError("no version of the api's key can be used")
        return keys


def derive_purpose_key(secret: bytes, purpose: KeyPurpose) -> bytes:
    """Return the 32 bytes that `secret` gives for `purpose`. Raise ValueError for a secret of another length."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"the api's key must be {SECRET_BYTES} bytes")
    return HKDF(algorithm=SHA256(), length=SECRET_BYTES, salt=None, info=INFO % purpose.encode()).derive(secret)
