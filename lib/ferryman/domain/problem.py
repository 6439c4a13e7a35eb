"""Problems: what is wrong with something an owner sent, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault: the `field` as a dotted path, and a sentence that says what would be accepted."""

    field: str
    message: str


class InvalidInputError(ValueError):
    """What was sent is not accepted; nothing was done. Carries every `Problem` found, not only the first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{each.field}: {each.message}" for each in self.problems))


def build_input_error(field: str, message: str) -> InvalidInputError:
    """An `InvalidInputError` with a single problem."""
    return InvalidInputError([Problem(field=field, message=message)])
