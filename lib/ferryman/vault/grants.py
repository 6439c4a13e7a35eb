"""Grants as they are sealed: the token and all by which it is had anew, in one plaintext."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ferryman.domain.connection import Proof
from ferryman.domain.credential import Credential, Grant, Label, Secret


def written(credential: Credential) -> bytes:
    """The plaintext of a credential with a grant."""
    grant = credential.grant
    assert grant is not None, "a credential without a grant is sealed as its value alone"
    return json.dumps(
        {
            "access_token": credential.secret.reveal(),
            "refresh_token": _revealed(grant.refresh_token),
            "expires_at": None if grant.expires_at is None else grant.expires_at.isoformat(),
            "token_url": grant.token_url,
            "client_id": grant.client_id,
            "client_secret": _revealed(grant.client_secret),
            "creds_location": grant.creds_location,
            "scopes": list(grant.scopes),
        }
    ).encode()


def credential(label: Label, plaintext: bytes) -> Credential:
    """What `written` wrote; ValueError, KeyError or TypeError for anything else."""
    known: dict[str, Any] = json.loads(plaintext)
    expires = known["expires_at"]
    grant = Grant(
        token_url=known["token_url"],
        client_id=known["client_id"],
        client_secret=_secret(known["client_secret"]),
        creds_location=known["creds_location"],
        refresh_token=_secret(known["refresh_token"]),
        scopes=tuple(known["scopes"]),
        expires_at=None if expires is None else datetime.fromisoformat(expires),
    )
    return Credential(label=label, secret=Secret(known["access_token"]), grant=grant)


def proof_written(proof: Proof) -> bytes:
    """The plaintext of what a connection keeps."""
    return json.dumps({"verifier": proof.verifier.reveal(), "client_secret": _revealed(proof.client_secret)}).encode()


def proof(plaintext: bytes) -> Proof:
    """What `proof_written` wrote; ValueError, KeyError or TypeError for anything else."""
    known: dict[str, Any] = json.loads(plaintext)
    return Proof(verifier=Secret(known["verifier"]), client_secret=_secret(known["client_secret"]))


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _secret(value: str | None) -> Secret | None:
    return None if value is None else Secret(value)
