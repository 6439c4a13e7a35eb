"""The api's key for decisions of people: Ed25519 (RFC 8032), derived from each version of its one secret by HKDF (RFC 5869).

Senders verify with the published halves, and can sign nothing.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ferryman.ports.errors import UnavailableError
from ferryman.ports.keys import PrivateKeys
from ferryman.vault.sign import SigningKey

INFO = b"ferryman decisions 1"
SECRET_BYTES = 32
VALID_MAX = 2
"""How many versions are valid: the newest, and while it is rotated the one before."""


class DecisionSigning:
    """`ports.SigningKeys`: signs with the newest version whose public half is published, and with no other."""

    def __init__(self, keys: PrivateKeys, public: Mapping[int, bytes]) -> None:
        self._keys = keys
        self._public = dict(public)
        self._derived: tuple[bytes, SigningKey] | None = None
        """The secret that was used last, and the key that was derived from it."""

    async def key(self) -> SigningKey:
        """Return the key. Raise `UnavailableError` while none is published, or it is another one than is published."""
        if not self._public:
            raise UnavailableError("no key for decisions is published")
        version = max(self._public)
        try:
            secret = await self._keys.private(version)
            if self._derived is not None and hmac.compare_digest(self._derived[0], secret):
                return self._derived[1]
            key = derive_signing_key(version, secret)
        except (KeyError, ValueError):
            raise UnavailableError(f"version {version} of the api's key cannot be used") from None
        if key.public != self._public[version]:
            raise UnavailableError(f"version {version} of the api's key is not the one that is published")
        self._derived = secret, key
        return key


def select_valid(versions: Iterable[int]) -> list[int]:
    """Return the versions that are valid of those that are enabled: the newest, and the one before."""
    return sorted(versions)[-VALID_MAX:]


def derive_signing_key(version: int, secret: bytes) -> SigningKey:
    """Return the key that decisions are signed with under this version of the secret. Raise ValueError for another length."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"the api's key must be {SECRET_BYTES} bytes")
    seed = HKDF(algorithm=SHA256(), length=SECRET_BYTES, salt=None, info=INFO).derive(secret)
    return SigningKey(version, seed)


def generate_secret() -> bytes:
    """Return a new version of the secret, as Secret Manager keeps it."""
    return secrets.token_bytes(SECRET_BYTES)


def derive_decision_public_key(secret: bytes) -> bytes:
    """Return the public half, 32 bytes, that decisions under this secret are verified with. Raise ValueError."""
    return derive_signing_key(0, secret).public
