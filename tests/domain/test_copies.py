"""Copies: what `dataclasses.replace` makes of a value with slots."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import pytest

from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, Status
from tests.builders import build_execution


@dataclass(frozen=True, slots=True)
class OneField:
    """The smallest."""

    only: int


@dataclass(frozen=True)
class WithoutSlots:
    """Its fields are in a dictionary."""

    a: int = 0
    b: int = 0


@dataclass(frozen=True, slots=True)
class Computing:
    """It computes a field when it is made."""

    a: int = 0
    b: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "b", self.a)


def test_a_copy_is_equal_but_for_what_was_changed() -> None:
    execution = build_execution(status=Status.RUNNING, iterations=2)
    changes = {"iterations": 3, "output": "done"}
    assert replace(execution, **changes) == dataclasses.replace(execution, **changes)
    assert execution == build_execution(status=Status.RUNNING, iterations=2)
    assert type(replace(execution)) is Execution
    assert replace(OneField(1), only=2) == OneField(2)


def test_what_is_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="Execution has no field itterations"):
        replace(build_execution(), **{"itterations": 3})


@pytest.mark.parametrize("value", [WithoutSlots(), Computing()])
def test_what_does_not_lie_in_slots_or_computes_is_not_copied(value: object) -> None:
    with pytest.raises(TypeError, match="slot by slot"):
        replace(value)
