"""Encoding of grants for sealing: the token and everything that renews it, in one plaintext."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ferryman.domain.credentials.connection import Proof
from ferryman.domain.credentials.credential import Credential, Grant, Label, Secret


def encode_grant(credential: Credential) -> bytes:
    """Return the plaintext of a credential with a grant."""
    grant = credential.grant
    assert grant is not None, "a credential without a grant is sealed as its value alone"
    return json.dumps(
        {
            "access_token": credential.secret.reveal(),
            "refresh_token": _reveal(grant.refresh_token),
            "expires_at": None if grant.expires_at is None else grant.expires_at.isoformat(),
            "token_url": grant.token_url,
            "client_id": grant.client_id,
            "client_secret": _reveal(grant.client_secret),
            "creds_location": grant.creds_location,
            "scopes": list(grant.scopes),
        }
    ).encode()


def decode_grant(label: Label, plaintext: bytes) -> Credential:
    """Return the credential that `encode_grant` wrote. Raise ValueError, KeyError or TypeError for anything else."""
    fields: dict[str, Any] = json.loads(plaintext)
    expires = fields["expires_at"]
    grant = Grant(
        token_url=fields["token_url"],
        client_id=fields["client_id"],
        client_secret=_secret(fields["client_secret"]),
        creds_location=fields["creds_location"],
        refresh_token=_secret(fields["refresh_token"]),
        scopes=tuple(fields["scopes"]),
        expires_at=None if expires is None else datetime.fromisoformat(expires),
    )
    return Credential(label=label, secret=Secret(fields["access_token"]), grant=grant)


def encode_proof(proof: Proof) -> bytes:
    """Return the plaintext of a connection's proof."""
    return json.dumps({"verifier": proof.verifier.reveal(), "client_secret": _reveal(proof.client_secret)}).encode()


def decode_proof(plaintext: bytes) -> Proof:
    """Return the proof that `encode_proof` wrote. Raise ValueError, KeyError or TypeError for anything else."""
    fields: dict[str, Any] = json.loads(plaintext)
    return Proof(verifier=Secret(fields["verifier"]), client_secret=_secret(fields["client_secret"]))


def _reveal(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _secret(value: str | None) -> Secret | None:
    return None if value is None else Secret(value)
