"""The ports of keys that unseal, sign and seal, and of the vault: what a tool function opens and seals."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from ferryman.domain.calls.continuation import Continuation
from ferryman.domain.credentials.connection import Connection, Proof
from ferryman.domain.credentials.coverage import Coverage
from ferryman.domain.credentials.credential import Credential, SealedCredential, Secret
from ferryman.domain.credentials.token import Token


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


class KeyPurpose(StrEnum):
    """What a key that is derived from the api's one secret is for."""

    MCP = "mcp"
    """What a client of /mcp brings back: states of requests, and sessions of 2025."""
    SESSIONS = "sessions"
    """Who is signed in at the console."""


class PurposeKeys(Protocol):
    """The api's own symmetric keys of 32 bytes, by the version of the secret that each is derived from, the newest first.

    The newest one signs, and any of them verifies: two while the secret is rotated. Raises `UnavailableError`.
    """

    async def list(self, purpose: KeyPurpose) -> Mapping[int, bytes]: ...


class Sealer(Protocol):
    """Seals with the public key; anyone may. `info` is bound to the ciphertext."""

    @property
    def version(self) -> int: ...
    def seal(self, plaintext: bytes, info: bytes) -> bytes: ...


class ToolVault(Protocol):
    """Opens values that were sealed to the key holders, and seals values to them.

    Its methods raise `CallRefusedError` (`open_proof`: `NotConnectedError`) for a value that does not open, `UnavailableError`
    while the keys do not answer, and KeyError for a `version` of the key that does not exist.
    """

    async def open_arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]: ...
    async def open_coverage(self, ciphertext: bytes, *, execution: str) -> Coverage: ...
    async def seal_coverage(self, coverage: Coverage, *, execution: str, like: bytes) -> bytes: ...
    async def open_continuation(self, ciphertext: bytes, *, execution: str, seq: int) -> Continuation: ...
    async def seal_continuation(self, continuation: Continuation, *, execution: str, seq: int, like: bytes) -> bytes: ...
    async def open_credential(self, sealed: SealedCredential) -> Credential: ...
    async def reseal(self, sealed: SealedCredential, *, version: int) -> SealedCredential: ...
    async def open_proof(self, connection: Connection) -> Proof: ...
    async def seal_grant(self, credential: Credential, *, version: int) -> bytes: ...
    async def reseal_token(self, token: Token, *, owner: str, key: str, version: int) -> Token | None: ...
    async def open_token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None:
        """Return the token; None where it does not open."""
