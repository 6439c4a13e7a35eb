"""Verifying what people decided: Ed25519 (RFC 8032), by the published halves of the api's key, which signs nothing here."""

from __future__ import annotations

from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class PublishedKeys:
    """`ports.approvals.DecisionVerifier`: the public keys by version, from the environment. A version that is not there
    verifies nothing."""

    def __init__(self, public: Mapping[int, bytes]) -> None:
        self._keys = {version: Ed25519PublicKey.from_public_bytes(key) for version, key in public.items()}

    def verify(self, message: bytes, *, key: int, signature: str) -> bool:
        public = self._keys.get(key)
        if public is None:
            return False
        try:
            public.verify(bytes.fromhex(signature), message)
        except (InvalidSignature, ValueError, TypeError):
            return False
        return True
