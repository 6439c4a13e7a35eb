"""The vault: opens what was sealed, in key holders only, and fails closed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ferryman.domain import refusal
from ferryman.domain.connection import Connection, Proof, Unconnected
from ferryman.domain.credential import Credential, Sealed, Secret
from ferryman.domain.refusal import Refused
from ferryman.ports import Keys
from ferryman.vault import grants
from ferryman.vault.seal import (
    PublicKey,
    Unopenable,
    call_info,
    connection_info,
    grant_info,
    info_of,
    public_of,
    token_info,
    unseal,
    version_of,
)


class Vault:
    """Opens credentials and arguments. A key store that does not answer raises `Unavailable` through every method."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def credential(self, sealed: Sealed) -> Credential:
        """The credential open, or `Refused` when its ciphertext is not the one this label was sealed with."""
        plaintext = await self._plaintext(sealed)
        try:
            if sealed.grant is not None:
                return grants.credential(sealed.label, plaintext)
            return Credential(label=sealed.label, secret=Secret(plaintext.decode("ascii")))
        except (ValueError, KeyError, TypeError):
            # The cause is left out: a decoding error carries the bytes it failed on.
            raise Refused(refusal.credential_unreadable(sealed.label.name)) from None

    async def resealed(self, sealed: Sealed, *, version: int) -> Sealed:
        """The same credential sealed to key `version`; one that is sealed to that or a later version as it stands.

        The public half is taken from the private one: whoever asks cannot have it sealed to a key of their own. Raises
        `Refused` when it does not open, KeyError when there is no such version.
        """
        if sealed.key_version >= version:
            return sealed
        plaintext = await self._plaintext(sealed)
        public = await self._public(version)
        return replace(sealed, ciphertext=public.seal(plaintext, _info(sealed)), key_version=version)

    async def granted(self, credential: Credential, *, version: int) -> bytes:
        """A credential with a grant, sealed to key `version`; KeyError when there is no such version."""
        return (await self._public(version)).seal(grants.written(credential), grant_info(credential.label))

    async def proof(self, connection: Connection) -> Proof:
        """What a connection keeps, or `Unconnected` when it is not what it is said to be."""
        try:
            return grants.proof(await self._open(connection.ciphertext, connection_info(connection)))
        except (Unopenable, ValueError, KeyError, TypeError):
            raise Unconnected("the connection does not open; connect again") from None

    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        """A journaled call's arguments, or `Unopenable`."""
        plaintext = await self._open(ciphertext, call_info(execution, seq))
        try:
            arguments = json.loads(plaintext)
        except (ValueError, RecursionError):
            raise Unopenable("the arguments are not JSON") from None
        if not isinstance(arguments, dict):
            raise Unopenable("the arguments are not an object")
        return arguments

    async def token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None:
        """A fetched token open, or None: what does not open is no worse than what was never kept."""
        try:
            return Secret((await self._open(ciphertext, token_info(owner, key, fetch))).decode("ascii"))
        except (Unopenable, UnicodeDecodeError):
            return None

    async def _plaintext(self, sealed: Sealed) -> bytes:
        try:
            if version_of(sealed.ciphertext) != sealed.key_version:
                raise Unopenable("the ciphertext is for another key version")
            return await self._open(sealed.ciphertext, _info(sealed))
        except Unopenable:
            raise Refused(refusal.credential_unreadable(sealed.label.name)) from None

    async def _public(self, version: int) -> PublicKey:
        return PublicKey(version, public_of(await self._keys.private(version)))

    async def _open(self, ciphertext: bytes, info: bytes) -> bytes:
        try:
            private = await self._keys.private(version_of(ciphertext))
        except KeyError:
            raise Unopenable("there is no such key version") from None
        return unseal(ciphertext, info, private)


def _info(sealed: Sealed) -> bytes:
    return info_of(sealed.label) if sealed.grant is None else grant_info(sealed.label)
