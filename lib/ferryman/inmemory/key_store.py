"""Keys in memory: the versions of one, and a signer that signs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ferryman.domain.credentials.keys import KeyVersion
from ferryman.ports.errors import DisabledKeyError, UnavailableError

UNSIGNED = bytes(64)
CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class MemoryKeyStore:
    """The versions of a key, of which only those not `disabled` can be read: `ports.PrivateKeys` too, silent while `away`."""

    privates: dict[int, bytes] = field(default_factory=dict, repr=False)
    disabled: set[int] = field(default_factory=set)
    away: bool = False

    async def list_versions(self) -> Sequence[KeyVersion]:
        return [KeyVersion(number=number, enabled=number not in self.disabled, created_at=CREATED) for number in self.privates]

    async def private(self, version: int) -> bytes:
        if self.away:
            raise UnavailableError("the keys are away")
        if version in self.disabled:
            raise DisabledKeyError(f"version {version} of the key is disabled")
        return self.privates[version]

    async def add(self, private: bytes) -> int:
        number = max(self.privates, default=0) + 1
        self.privates[number] = private
        return number

    async def enable(self, version: int) -> None:
        self.disabled.discard(version)

    async def disable(self, version: int) -> None:
        self.disabled.add(version)


class NullSigner:
    """`ports.SigningKeys`, and the `ports.Signer` that it returns: for a replay, whose receipts are never stored."""

    version = 0

    async def key(self) -> NullSigner:
        return self

    def sign(self, message: bytes) -> bytes:  # noqa: ARG002 - the port's own signature
        return UNSIGNED
