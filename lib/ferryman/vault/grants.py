"""Encoding of grants for sealing: the token and everything that renews it, in one plaintext."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.connection import Proof
from ferryman.domain.credentials.credential import Credential, Grant, Label, Secret


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
