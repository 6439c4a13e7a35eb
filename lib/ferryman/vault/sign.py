"""Signing: Ed25519 (RFC 8032) over receipts, with a key whose public halves everybody may have."""

from __future__ import annotations

from collections.abc import Mapping

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ferryman import ports

PUBLIC_BYTES = 32


class SigningKey:
    """One version of the key: `ports.Signer`. Raises ValueError for what is not a private key of `generate`."""

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
        """The signature of `message`, 64 bytes."""
        return self._key.sign(message)


class Signing:
    """`ports.Signing`: signs with the newest version whose public half is handed out, and with no other."""

    def __init__(self, keys: ports.Keys, public: Mapping[int, bytes]) -> None:
        if not public:
            raise ValueError("there is no public receipt key")
        self._keys = keys
        self._version = max(public)
        self._public = public[self._version]

    async def key(self) -> SigningKey:
        """The key; `Unavailable` while there is none that anybody could verify."""
        try:
            key = SigningKey(self._version, await self._keys.private(self._version))
        except (KeyError, ValueError):
            raise ports.Unavailable(f"version {self._version} of the receipt key cannot be used") from None
        if key.public != self._public:
            raise ports.Unavailable(f"version {self._version} of the receipt key is not the one that is handed out")
        return key


def generate() -> bytes:
    """A new private key, as Secret Manager keeps it."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def public_of(private: bytes) -> bytes:
    """The public half of a private key of `generate`; ValueError when it is not one."""
    return SigningKey(0, private).public


def public_keys(texts: Mapping[str, str]) -> dict[int, bytes]:
    """The public keys by version, from the hex of the settings; ValueError for what is none."""
    found = {}
    for version, text in texts.items():
        if not (version.isascii() and version.isdigit() and int(version) > 0):
            raise ValueError(f"{version!r} is no version of a receipt key")
        public = bytes.fromhex(text)
        if len(public) != PUBLIC_BYTES:
            raise ValueError(f"a public receipt key must be {PUBLIC_BYTES} bytes")
        Ed25519PublicKey.from_public_bytes(public)
        found[int(version)] = public
    return found
