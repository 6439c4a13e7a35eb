"""The vault: opens sealed values, in functions with the unsealing key only, and fails closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.continuation import Continuation, decode_continuation, encode_continuation
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.connection import Connection, NotConnectedError, Proof
from ferryman.domain.credentials.coverage import NOTHING, Coverage
from ferryman.domain.credentials.credential import Credential, SealedCredential, Secret
from ferryman.domain.credentials.token import Token
from ferryman.expiring import ExpiringCache
from ferryman.ports.keys import PrivateKeys
from ferryman.vault import seal
from ferryman.vault.seal import PrivateKey, PublicKey, UnsealError

PARSED_MAX = 4
"""Versions of the key that are kept parsed: the one in use, and those that a rotation is leaving."""

PARSED_S = 300.0
"""For how many seconds. `PrivateKeys` is asked each time, and a version that it does not give opens nothing."""


class Vault:
    """Opens credentials and arguments. Every method raises `UnavailableError` while the key store does not answer.

    `life_s` is how long a parsed key stays in memory. `rotated` is called when something opens that is sealed to a later
    version of the key than anything before: the key was rotated, and what was opened with the others is to be forgotten.
    """

    def __init__(self, keys: PrivateKeys, *, life_s: float = PARSED_S, rotated: Callable[[], None] = lambda: None) -> None:
        self._keys = keys
        self._rotated = rotated
        self._newest = 0
        self._parsed: ExpiringCache[int, PrivateKey] = ExpiringCache(most=PARSED_MAX, life_s=life_s)

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        """Return the opened credential. Raise `CallRefusedError` unless its ciphertext was sealed with this label."""
        plaintext = await self._open_plaintext(sealed)
        try:
            if sealed.grant is not None:
                return seal.decode_grant(sealed.label, plaintext)
            return Credential(label=sealed.label, secret=Secret(plaintext.decode("ascii")))
        except (ValueError, KeyError, TypeError):
            # The cause is left out: a decoding error holds the bytes that it failed on.
            raise CallRefusedError(refusal.refuse_unreadable_credential(sealed.label.name)) from None

    async def reseal(self, sealed: SealedCredential, *, version: int) -> SealedCredential:
        """Return the credential sealed to key `version`; one that is sealed to that or a later version is returned unchanged.

        The public half is derived from the private one, so no caller can choose another key. Raise
        `CallRefusedError` when it does not open, KeyError when there is no such version.
        """
        if sealed.key_version >= version:
            return sealed
        plaintext = await self._open_plaintext(sealed)
        public = await self._derive_public(version)
        return replace(sealed, ciphertext=public.seal(plaintext, _build_info(sealed)), key_version=version)

    async def seal_grant(self, credential: Credential, *, version: int) -> bytes:
        """Return a credential with a grant, sealed to key `version`. Raise KeyError when there is no such version."""
        return (await self._derive_public(version)).seal(seal.encode_grant(credential), seal.build_grant_info(credential.label))

    async def open_proof(self, connection: Connection) -> Proof:
        """Return the sealed secrets of a connection. Raise `NotConnectedError` if they do not open."""
        try:
            return seal.decode_proof(await self._open(connection.ciphertext, seal.build_connection_info(connection)))
        except (UnsealError, ValueError, KeyError, TypeError):
            raise NotConnectedError("the connection does not open; connect again") from None

    async def open_arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        """Return a journaled call's arguments. Raise `UnsealError`."""
        plaintext = await self._open(ciphertext, seal.build_call_info(execution, seq))
        try:
            arguments = json.loads(plaintext)
        except (ValueError, RecursionError):
            raise UnsealError("the arguments are not JSON") from None
        if not isinstance(arguments, dict):
            raise UnsealError("the arguments are not an object")
        return arguments

    async def open_token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None:
        """Return a fetched token, or None if it does not open: it is then fetched again."""
        try:
            return Secret((await self._open(ciphertext, seal.build_token_info(owner, key, fetch))).decode("ascii"))
        except (UnsealError, UnicodeDecodeError):
            return None

    async def reseal_token(self, token: Token, *, owner: str, key: str, version: int) -> Token | None:
        """Return a fetched token sealed to key `version`, unchanged if it is sealed to that or a later one; None if it does not
        open. Raise KeyError when there is no such version."""
        info = seal.build_token_info(owner, key, token.fetch)
        try:
            if seal.read_key_version(token.ciphertext) >= version:
                return token
            plaintext = await self._open(token.ciphertext, info)
        except UnsealError:
            return None
        return replace(token, ciphertext=(await self._derive_public(version)).seal(plaintext, info))

    async def open_coverage(self, ciphertext: bytes, *, execution: str) -> Coverage:
        """Return what the calls of an execution have sent of its secrets; nothing for no ciphertext. Raise `UnsealError`."""
        if not ciphertext:
            return NOTHING
        try:
            return Coverage.decode(await self._open(ciphertext, seal.build_coverage_info(execution)))
        except ValueError:
            raise UnsealError("the coverage is not readable") from None

    async def seal_coverage(self, coverage: Coverage, *, execution: str, like: bytes) -> bytes:
        """Return a coverage sealed to the key version of `like`. Raise ValueError for one that is too long."""
        return (await self._derive_like(like)).seal(coverage.encode(), seal.build_coverage_info(execution))

    async def open_continuation(self, ciphertext: bytes, *, execution: str, seq: int) -> Continuation:
        """Return what goes on of a call. Raise `UnsealError`, also for that of another call."""
        try:
            return decode_continuation(await self._open(ciphertext, seal.build_continuation_info(execution, seq)))
        except ValueError:
            raise UnsealError("the continuation is not readable") from None

    async def seal_continuation(self, continuation: Continuation, *, execution: str, seq: int, like: bytes) -> bytes:
        """Return what goes on of a call, sealed to the key version of `like`. Raise ValueError for one that is too long."""
        info = seal.build_continuation_info(execution, seq)
        return (await self._derive_like(like)).seal(encode_continuation(continuation), info)

    async def _open_plaintext(self, sealed: SealedCredential) -> bytes:
        try:
            if seal.read_key_version(sealed.ciphertext) != sealed.key_version:
                raise UnsealError("the ciphertext is for another key version")
            return await self._open(sealed.ciphertext, _build_info(sealed))
        except UnsealError:
            raise CallRefusedError(refusal.refuse_unreadable_credential(sealed.label.name)) from None

    async def _derive_like(self, ciphertext: bytes) -> PublicKey:
        try:
            return await self._derive_public(seal.read_key_version(ciphertext))
        except KeyError:
            raise UnsealError("there is no such key version") from None

    async def _derive_public(self, version: int) -> PublicKey:
        return PublicKey(version, seal.derive_public_key(await self._keys.private(version)))

    async def _open(self, ciphertext: bytes, info: bytes) -> bytes:
        version = seal.read_key_version(ciphertext)
        try:
            private = await self._keys.private(version)
        except KeyError:
            raise UnsealError("there is no such key version") from None
        plaintext = self._parse(version, private).unseal(ciphertext, info)
        if version > self._newest:
            self._forget_older(version)
        return plaintext

    def _parse(self, version: int, private: bytes) -> PrivateKey:
        parsed = self._parsed.get(version)
        if parsed is None or not parsed.is_of(private):
            parsed = PrivateKey(private)
            self._parsed.put(version, parsed)
        return parsed

    def _forget_older(self, version: int) -> None:
        known, self._newest = self._newest, version
        if known:
            self._parsed.clear()
            self._rotated()


def _build_info(sealed: SealedCredential) -> bytes:
    return seal.build_credential_info(sealed.label) if sealed.grant is None else seal.build_grant_info(sealed.label)
