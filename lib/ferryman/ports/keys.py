"""The ports of keys: those that unseal, those that sign, those that seal."""

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
    """The key that receipts are signed with, as it is now. Raises `UnavailableError`."""

    async def key(self) -> Signer: ...


class Sealer(Protocol):
    """Seals with the public key; anyone may. `info` is bound to the ciphertext."""

    @property
    def version(self) -> int: ...
    def seal(self, plaintext: bytes, info: bytes) -> bytes: ...
