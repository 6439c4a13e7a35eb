"""The key of signed requests where the environment gives it, for a runtime that is no function of ours."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ferryman.domain.signed_request import KEY_BYTES_MIN

VALID_MAX = 2
"""How many versions are valid: the newest, and while it is rotated the one before."""


class FixedRequestKeys:
    """`ports.RequestKeys`: one key, which never changes."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    async def signing(self) -> bytes:
        return self._key

    async def valid(self) -> Sequence[bytes]:
        return (self._key,)

    async def renewed(self) -> Sequence[bytes]:
        return ()


def generate_request_key() -> bytes:
    """Return a new key, as Secret Manager keeps it."""
    return secrets.token_bytes(KEY_BYTES_MIN)
