"""What a call that asked a model has used: its price is charged with the call, as a fee is."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """The tokens and the credits of the model calls of one call. Of a text of `characters` the model has read the first `read`.

    The tokens are those of `domain.executions.usage.Usage`.
    """

    calls: int
    credits: Decimal
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    characters: int = 0
    read: int = 0
