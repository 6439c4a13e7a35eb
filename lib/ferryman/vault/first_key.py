"""The first API key of who takes an invitation: derived, so that a request whose answer was lost gives it again."""

from __future__ import annotations

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY_BYTES = 32


def derive_first_key(token: str, secret: str) -> bytes:
    """Return the 32 bytes of the key that the `secret` of who takes the invitation with `token` decides.

    HKDF-SHA256 (RFC 5869) over both, whose lengths are fixed: neither who made the invitation nor who finds its token can
    compute it, and with a weak secret it is no weaker than the token.
    """
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=b"ferryman first key v1").derive(
        (token + secret).encode()
    )
