"""The port of the prices of models' tokens."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Protocol

from ferryman.domain.executions.usage import Usage


class TokenPrice(Protocol):
    """The price of a model's tokens, in credits."""

    def to_row(self) -> Mapping[str, str]: ...
    def compute_credits(self, usage: Usage) -> Decimal: ...
    def count_affordable_tokens(self, budget: Decimal, *, prompt_bytes: int) -> int: ...
    def compute_worst_case(self, *, prompt_bytes: int, output_tokens: int) -> Decimal: ...
