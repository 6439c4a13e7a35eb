"""Signing of receipts with Ed25519 (RFC 8032), by a key whose public halves are published."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ferryman.ports.errors import UnavailableError
from ferryman.ports.keys import PrivateKeys

PUBLIC_BYTES = 32


class SigningKey:
    """One version of the key: `Signer`. Raise ValueError for anything but a private key of `generate_private_key`."""

    def __init__(self, version: int, private: bytes) -> None:
        self._version = version
        self._key = Ed25519PrivateKey.from_private_bytes(private)

    @property
    def version(self) -> int:
        return self._version

    @property
    def public(self) -> bytes:
        """The public half, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message`, 64 bytes."""
        return self._key.sign(message)


class ReceiptSigning:
    """`SigningPort`: signs with the newest version whose public half is published, and with no other."""

    def __init__(self, keys: PrivateKeys, public: Mapping[int, bytes]) -> None:
        if not public:
            raise ValueError("there is no public receipt key")
        self._keys = keys
        self._version = max(public)
        self._public = public[self._version]
        self._parsed: tuple[bytes, SigningKey] | None = None
        """The key that was used last: to parse it takes longer than to sign."""

    async def key(self) -> SigningKey:
        """Return the key. Raise `UnavailableError` while its public half is not published."""
        try:
            private = await self._keys.private(self._version)
            if self._parsed is not None and hmac.compare_digest(self._parsed[0], private):
                return self._parsed[1]
            key = SigningKey(self._version, private)
        except (KeyError, ValueError):
            raise UnavailableError(f"version {self._version} of the receipt key cannot be used") from None
        if key.public != self._public:
            raise UnavailableError(f"version {self._version} of the receipt key is not the one that is published")
        self._parsed = private, key
        return key


def generate_private_key() -> bytes:
    """Return a new private key, as Secret Manager keeps it."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def derive_public_key(private: bytes) -> bytes:
    """Return the public half of a private key of `generate_private_key`. Raise ValueError for anything else."""
    return SigningKey(0, private).public


def parse_public_keys(texts: Mapping[str, str]) -> dict[int, bytes]:
    """Return the public keys by version, from the hex of the settings. Raise ValueError for anything else."""
    public_keys = {}
    for version, text in texts.items():
        if not (version.isascii() and version.isdigit() and int(version) > 0):
            raise ValueError(f"{version!r} is no version of a receipt key")
        public = bytes.fromhex(text)
        if len(public) != PUBLIC_BYTES:
            raise ValueError(f"a public receipt key must be {PUBLIC_BYTES} bytes")
        Ed25519PublicKey.from_public_bytes(public)
        public_keys[int(version)] = public
    return public_keys
