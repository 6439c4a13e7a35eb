"""Sealing with HPKE (RFC 9180) to a post-quantum hybrid key, bound to the kind and the place of the plaintext.

A grant is encoded for it with the token and everything that renews it, in one plaintext.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, MLKEM768X25519PrivateKey, MLKEM768X25519PublicKey, Suite

from ferryman.domain.credentials.connection import Connection, Proof
from ferryman.domain.credentials.credential import Credential, Grant, Label, Secret

_SUITE = Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
_SEED_BYTES = 64
_PRIVATE_BYTES = _SEED_BYTES + 32
_LATTICE_BYTES = 1_184
_PUBLIC_BYTES = _LATTICE_BYTES + 32
_VERSION_BYTES = 4
_OF_SERVERS = ("issuer", "authorize_url", "resource", "sends_iss")
VERSION_MAX = 2 ** (8 * _VERSION_BYTES) - 1


class UnsealError(Exception):
    """The ciphertext was changed or moved, is of another kind, or is for another key."""


class PublicKey:
    """A public key with the version of its private half: `ports.Sealer`. Raise ValueError for anything else."""

    def __init__(self, version: int, public: bytes) -> None:
        if not 0 < version <= VERSION_MAX:
            raise ValueError("the key version must be a positive number of at most 32 bits")
        if len(public) != _PUBLIC_BYTES:
            raise ValueError(f"the public key must be {_PUBLIC_BYTES} bytes")
        self._version = version
        self._key = MLKEM768X25519PublicKey(
            MLKEM768PublicKey.from_public_bytes(public[:_LATTICE_BYTES]),
            X25519PublicKey.from_public_bytes(public[_LATTICE_BYTES:]),
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key from "VERSION:BASE64", as the settings have it. Raise ValueError for anything else."""
        version, colon, encoded = text.strip().partition(":")
        if not colon or not (version.isascii() and version.isdigit()):
            raise ValueError("the sealing public key must read VERSION:BASE64")
        try:
            public = base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError("the sealing public key is not base64") from error
        return cls(int(version), public)

    @property
    def version(self) -> int:
        return self._version

    def seal(self, plaintext: bytes, info: bytes) -> bytes:
        """Return the key version in four big-endian bytes, followed by the HPKE message; two sealings are never equal."""
        sealed = _SUITE.encrypt(plaintext, self._key, info=_bind_version(self._version, info))
        return self._version.to_bytes(_VERSION_BYTES, "big") + sealed


def generate_private_key() -> bytes:
    """Return a new private key, as Secret Manager keeps it."""
    return MLKEM768PrivateKey.generate().private_bytes_raw() + X25519PrivateKey.generate().private_bytes_raw()


def derive_public_key(private: bytes) -> bytes:
    """Return the public half of a private key of `generate_private_key`. Raise ValueError for anything else."""
    lattice, curve = _split_private(private)
    return lattice.public_key().public_bytes_raw() + curve.public_key().public_bytes_raw()


def format_public_key(version: int, public: bytes) -> str:
    """Return the public key as `PublicKey.parse` reads it."""
    return f"{version}:{base64.b64encode(public).decode()}"


def read_key_version(ciphertext: bytes) -> int:
    """Return the version of the key that opens `ciphertext`. Raise `UnsealError` when it is too short."""
    if len(ciphertext) <= _VERSION_BYTES:
        raise UnsealError("the ciphertext is too short")
    return int.from_bytes(ciphertext[:_VERSION_BYTES], "big")


class PrivateKey:
    """A private key of `generate_private_key`, parsed: half of the work of opening is parsing it. It is in no repr.

    What is no such key opens nothing.
    """

    __slots__ = ("_key", "_private")

    def __init__(self, private: bytes) -> None:
        self._private = private
        self._key: MLKEM768X25519PrivateKey | None = None
        with suppress(ValueError):
            self._key = MLKEM768X25519PrivateKey(*_split_private(private))

    def is_of(self, private: bytes) -> bool:
        """Tell whether it was parsed from `private`."""
        return hmac.compare_digest(self._private, private)

    def unseal(self, ciphertext: bytes, info: bytes) -> bytes:
        """Return the plaintext that was sealed with this `info`. Raise `UnsealError`."""
        version = read_key_version(ciphertext)
        if self._key is None:
            raise UnsealError("the private key is none")
        try:
            return _SUITE.decrypt(ciphertext[_VERSION_BYTES:], self._key, info=_bind_version(version, info))
        except (InvalidTag, ValueError) as error:
            raise UnsealError("the ciphertext does not open") from error


def build_credential_info(label: Label) -> bytes:
    """Return the info that binds a credential's value to every field of its label."""
    return _build_info("credential", **asdict(label))


def build_grant_info(label: Label) -> bytes:
    """Return the info that binds a grant to its label and its kind: no value is read as a grant, nor a grant as a value."""
    return _build_info("grant", **asdict(label))


def build_connection_info(connection: Connection) -> bytes:
    """Return the info that binds a connection's proof to every other field of the connection."""
    fields = {name: value for name, value in asdict(connection).items() if name != "ciphertext"}
    if not any(fields[name] for name in _OF_SERVERS):  # a consent to a service of the catalog is bound to what it always was
        fields = {name: value for name, value in fields.items() if name not in _OF_SERVERS}
    return _build_info("connection", **{**fields, "expires_at": connection.expires_at.isoformat()})


def build_call_info(execution: str, seq: int) -> bytes:
    """Return the info that binds a call's arguments to the execution and the call's number in it."""
    return _build_info("arguments", execution=execution, seq=seq)


def build_continuation_info(execution: str, seq: int) -> bytes:
    """Return the info that binds what goes on of a call to the execution and the call's number in it."""
    return _build_info("continuation", execution=execution, seq=seq)


def build_coverage_info(execution: str) -> bytes:
    """Return the info that binds an execution's coverage to the execution."""
    return _build_info("coverage", execution=execution)


def build_token_info(owner: str, key: str, fetch: str) -> bytes:
    """Return the info that binds a fetched token to its owner, its auth and its fetch."""
    return _build_info("token", owner=owner, key=key, fetch=fetch)


def _build_info(purpose: str, **fields: Any) -> bytes:
    # Canonical JSON: a separator inside one field cannot make it two fields.
    return f"ferryman/{purpose}/1\n".encode() + json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


def _bind_version(version: int, info: bytes) -> bytes:
    # The version is outside the encryption; bound here, a change of it is detected.
    return version.to_bytes(_VERSION_BYTES, "big") + info


def _split_private(private: bytes) -> tuple[MLKEM768PrivateKey, X25519PrivateKey]:
    if len(private) != _PRIVATE_BYTES:
        raise ValueError(f"the private key must be {_PRIVATE_BYTES} bytes")
    return (
        MLKEM768PrivateKey.from_seed_bytes(private[:_SEED_BYTES]),
        X25519PrivateKey.from_private_bytes(private[_SEED_BYTES:]),
    )


def encode_grant(credential: Credential) -> bytes:
    """Return the plaintext of a credential with a grant."""
    grant = credential.grant
    assert grant is not None, "a credential without a grant is sealed as its value alone"
    values = {field.name: getattr(grant, field.name) for field in fields(grant)}
    return _encode({**values, "access_token": credential.secret})


def decode_grant(label: Label, plaintext: bytes) -> Credential:
    """Return the credential that `encode_grant` wrote. Raise ValueError, KeyError or TypeError for anything else."""
    values: dict[str, Any] = json.loads(plaintext)
    expires = values["expires_at"]
    grant = Grant(
        token_url=values["token_url"],
        client_id=values["client_id"],
        client_secret=_secret(values["client_secret"]),
        creds_location=values["creds_location"],
        refresh_token=_secret(values["refresh_token"]),
        scopes=tuple(values["scopes"]),
        expires_at=None if expires is None else datetime.fromisoformat(expires),
        consented=values.get("consented", 0),  # those that were sealed before it was counted
        issuer=values.get("issuer"),
        resource=values.get("resource"),
    )
    return Credential(label=label, secret=Secret(values["access_token"]), grant=grant)


def encode_proof(proof: Proof) -> bytes:
    """Return the plaintext of a connection's proof."""
    return _encode({"verifier": proof.verifier, "client_secret": proof.client_secret})


def decode_proof(plaintext: bytes) -> Proof:
    """Return the proof that `encode_proof` wrote. Raise ValueError, KeyError or TypeError for anything else."""
    values: dict[str, Any] = json.loads(plaintext)
    return Proof(verifier=Secret(values["verifier"]), client_secret=_secret(values["client_secret"]))


def _encode(values: dict[str, Any]) -> bytes:
    return json.dumps(values, default=lambda value: value.reveal() if isinstance(value, Secret) else value.isoformat()).encode()


def _secret(value: str | None) -> Secret | None:
    return None if value is None else Secret(value)
