"""Coverage: which characters of which secrets the calls of one execution have sent (exfiltration of a key in pieces)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

BYTES_MAX = 65_536  # the stored bytes of one execution; 20 credentials of the longest kind take less than half of them


@dataclass(frozen=True, slots=True)
class Coverage:
    """The positions that were sent, by secret: bit n of `sent[secret]` is character n of its letters and digits.

    A secret is named by a digest, so a replaced value starts at zero.
    """

    sent: Mapping[str, int] = field(default_factory=dict, repr=False)

    def get(self, secret: str) -> int:
        """Return the positions of `secret` that were sent, as bits."""
        return self.sent.get(secret, 0)

    def encode(self) -> bytes:
        """Return the positions as bytes of at most `BYTES_MAX`, to be sealed. Raise ValueError for more."""
        encoded = json.dumps({secret: f"{bits:x}" for secret, bits in sorted(self.sent.items())}).encode()
        if len(encoded) > BYTES_MAX:
            raise ValueError(f"the positions sent take more than {BYTES_MAX} bytes")
        return encoded

    @classmethod
    def decode(cls, encoded: bytes) -> Self:
        """Return what `encode` wrote. Raise ValueError for anything else."""
        document = json.loads(encoded)
        if not isinstance(document, dict):
            raise ValueError("not a coverage")
        return cls({str(secret): int(str(bits), 16) for secret, bits in document.items()})


NOTHING = Coverage()
