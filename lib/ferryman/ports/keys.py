"""The ports of keys that unseal, sign and seal."""

from __future__ import annotations

from typing import Protocol


class PrivateKeys(Protocol):
    """The private halves of one key pair, by version number. Raises `UnavailableError`, `DisabledKeyError` or `KeyError`."""

    async def private(self, version: int) -> bytes: ...


class Signer(Protocol):
    """One version of the key that receipts are signed with."""

    @property
    def version(self) -> int: ...
    def sign(self, message: bytes) -> bytes: ...


class SigningKeys(Protocol):
    """The current key that receipts are signed with. Raises `UnavailableError`."""

    async def key(self) -> Signer: ...


class Sealer(Protocol):
    """Seals with the public key; anyone may. `info` is bound to the ciphertext."""

    @property
    def version(self) -> int: ...
    def seal(self, plaintext: bytes, info: bytes) -> bytes: ...
