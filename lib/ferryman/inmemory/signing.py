"""Receipts that nobody reads, signed by nobody: for a replay, whose own are never kept."""

from __future__ import annotations

UNSIGNED = bytes(64)


class NullSigner:
    """`ports.Signing`, and the key it answers."""

    version = 0

    async def key(self) -> NullSigner:
        return self

    def sign(self, message: bytes) -> bytes:  # noqa: ARG002 - whatever it is
        return UNSIGNED
