"""Problems: why an owner's input is not accepted, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the `field` as a dotted path, and a sentence that says what would be accepted."""

    field: str
    message: str


class InvalidInputError(ValueError):
    """The input is not accepted; nothing was done. `problems` are all of them, not only the first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.field}: {problem.message}" for problem in self.problems))


def build_input_error(field: str, message: str) -> InvalidInputError:
    """Return an `InvalidInputError` with a single problem."""
    return InvalidInputError([Problem(field, message)])
