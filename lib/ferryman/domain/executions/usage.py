"""Usage: the tokens of model calls."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ferryman.domain.calls.model_use import ModelUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more model calls; cache tokens are not in `input_tokens`, as in the Messages API."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __sub__(self, other: Usage) -> Usage:
        return Usage(**{field.name: getattr(self, field.name) - getattr(other, field.name) for field in fields(self)})

    def __add__(self, other: Usage) -> Usage:
        sums = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        return Usage(**sums)


def count_use(use: ModelUse | None) -> Usage:
    """Return the tokens of a call that asked a model; none for any other."""
    return Usage() if use is None else Usage(**{field.name: getattr(use, field.name) for field in fields(Usage)})
