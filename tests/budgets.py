"""The time by the clock that reading a text may take, as shipped and in the tests: a loaded machine is slow, not wrong.

A job waits for its turn on the machine, which is no fault of its own; tests of that limit bring budgets of their own.
"""

from dataclasses import replace

from ferryman import offload

SHIPPED_TEXT = replace(offload.TEXT)

TESTED_WALL_S = 60.0


def lengthen() -> None:
    """Let texts wait longer, wherever the budget was taken already: it is one object in the whole process."""
    object.__setattr__(offload.TEXT, "wall_s", TESTED_WALL_S)
