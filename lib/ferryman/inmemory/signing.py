"""A signer that signs nothing, for a replay, whose receipts are never stored."""

from __future__ import annotations

UNSIGNED = bytes(64)


class NullSigner:
    """`ports.SigningKeys`, and the `ports.Signer` that it returns."""

    version = 0

    async def key(self) -> NullSigner:
        return self

    def sign(self, message: bytes) -> bytes:  # noqa: ARG002 - the port's own signature
        return UNSIGNED
