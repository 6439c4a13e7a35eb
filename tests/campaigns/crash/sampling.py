"""How many points the tests take: a few, spread over all of them, or every so many-th where `make crash` says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

STEP = "CRASH_STEP"
"""The variable by which `make crash` takes every so many-th point: 1 for every one."""


def sample(points: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of `points`, evenly spread and from the first to the last; with `STEP` every so many-th."""
    if STEP in os.environ:
        return [*points[:: int(os.environ[STEP])]]
    if len(points) <= most:
        return [*points]
    return [points[number * (len(points) - 1) // (most - 1)] for number in range(most)]
