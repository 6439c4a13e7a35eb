"""Signer: the key that access tokens are signed with which are JWTs (RFC 9068), and its public half as a key set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from jwt.algorithms import ECAlgorithm

ALGORITHM = "ES256"


class TokenSigner:
    """A key of one server, made with it."""

    def __init__(self) -> None:
        self._key = generate_private_key(SECP256R1())
        described = ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        self._kid = hashlib.sha256(str(described).encode()).hexdigest()[:16]
        self._described = {**described, "kid": self._kid, "alg": ALGORITHM, "use": "sig"}

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a signed access token with these claims."""
        return jwt.encode(dict(claims), self._key, ALGORITHM, headers={"typ": "at+jwt", "kid": self._kid})

    def list_keys(self) -> dict[str, Any]:
        """Return the key set (RFC 7517)."""
        return {"keys": [self._described]}
