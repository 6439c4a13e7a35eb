"""How many points the tests take: a few, spread over all of them, or every one where `make crash` says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

EVERY_POINT = "EVERY_POINT"
"""The variable by which `make crash` takes every point."""


def sample(points: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of `points`, evenly spread and from the first to the last; with `EVERY_POINT` all of them."""
    if EVERY_POINT in os.environ or len(points) <= most:
        return [*points]
    return [points[number * (len(points) - 1) // (most - 1)] for number in range(most)]
