"""Surfaces: the ways in which an execution is started and shown, and the rules of the loop that depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

UNBOUNDED = 1_000_000


class SurfaceKind(StrEnum):
    """Who waits for an execution."""

    TASK = "task"
    CHAT = "chat"
    TITLE = "title"
    CALL = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The rules of a surface.

    `result_characters_max` is to how many characters a result is cut, where its tool does not cut it further.
    `iterations_max` ends the loop with an answer; a task has a limit of its own besides. `runs_parallel` lets calls that
    only read run beside each other. `tokens_max` and `credits_max` hold the output tokens of a turn and the credits of the
    whole execution below the limits of its task.
    """

    kind: SurfaceKind
    result_characters_max: int
    iterations_max: int = UNBOUNDED
    runs_parallel: bool = False
    tokens_max: int = UNBOUNDED
    credits_max: Decimal = Decimal(UNBOUNDED)


TASK = Surface(kind=SurfaceKind.TASK, result_characters_max=50_000)
"""As S0 has it: calls one after the other."""

CHAT = Surface(kind=SurfaceKind.CHAT, result_characters_max=10_000, iterations_max=8, runs_parallel=True)
"""S3-2, S3-6, S3-63."""

TITLE = Surface(kind=SurfaceKind.TITLE, result_characters_max=0, iterations_max=1, tokens_max=50, credits_max=Decimal(25))
"""Of the execution that gives a conversation its title: nobody waits for it. It makes no calls."""

CALL = Surface(kind=SurfaceKind.CALL, result_characters_max=50_000, iterations_max=1)
"""Of an execution that makes the one call which it was started with: no model is asked."""
