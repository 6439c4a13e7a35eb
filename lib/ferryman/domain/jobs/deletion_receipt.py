"""Receipts of deletions: what was deleted, how much of it and when, signed. They hold ids and counts, and nothing personal.

Its hash is the SHA-256 of DOMAIN and the receipt's canonical JSON (as in `receipts.receipt`) without `hash` and `signature`.
The signature is Ed25519 over the hash's 32 bytes, by the key that receipts of executions are signed with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.copies import replace
from ferryman.domain.receipts.receipt import canonicalize

FORMAT = "ferryman-deletion/1"
DOMAIN = b"ferryman/deletion/1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReceipt:
    """The receipt of one deletion.

    `person` asked for it, "" with the owner's own key. `counts` are the documents that were deleted, by kind. Times are UTC to
    the microsecond, `key` is the version of the signing key; hash and signature are hex.
    """

    job: str
    kind: str
    workspace: str
    subject: str
    person: str
    counts: Mapping[str, int] = field(default_factory=dict)
    requested_at: str
    completed_at: str
    key: int
    hash: str = ""
    signature: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as one JSON object, in the form that verifiers read."""
        return {**self._to_unsigned_json(), "hash": self.hash, "signature": self.signature}

    def digest(self) -> bytes:
        """Compute the receipt's hash."""
        return hashlib.sha256(DOMAIN + canonicalize(self._to_unsigned_json())).digest()

    def sign(self, sign: Callable[[bytes], bytes]) -> DeletionReceipt:
        """Return the receipt with its hash and its signature."""
        digest = self.digest()
        return replace(self, hash=digest.hex(), signature=sign(digest).hex())

    def _to_unsigned_json(self) -> dict[str, Any]:
        names = ("job", "kind", "workspace", "subject", "person", "requested_at", "completed_at", "key")
        return {**{name: getattr(self, name) for name in names}, "counts": dict(self.counts)}
