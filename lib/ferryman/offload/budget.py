"""Budgets of jobs in a worker, and the errors raised for a job that takes more."""

from __future__ import annotations

from dataclasses import dataclass

from ferryman.ports.errors import UnavailableError

MIB = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of one job: seconds of processor time, seconds by the clock including its waiting time, and bytes of memory
    in addition to those of an idle worker."""

    cpu_s: float
    wall_s: float
    memory_bytes: int

    def __str__(self) -> str:
        return f"{self.cpu_s:g} s of processor time, {self.wall_s:g} s by the clock or {self.memory_bytes // MIB} MiB of memory"


TEXT = Budget(cpu_s=2.0, wall_s=4.0, memory_bytes=192 * MIB)
"""A request, an answer, a model's turn: at most some hundreds of thousands of characters. Its wall time is less
than the time of a call to be settled (`domain.calls.call.SETTLING_TIME`)."""

DOCUMENT = Budget(cpu_s=20.0, wall_s=25.0, memory_bytes=448 * MIB)
"""An OpenAPI document with those it refers to, of 16 MiB together."""


class OverBudgetError(Exception):
    """The job took more than its budget, and its worker was killed. The text names the limit."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(f"it takes more than {budget}")


class TooManyJobsError(UnavailableError):
    """Too many jobs of the same owner are waiting, or no worker could be started: nothing was done."""


class JobFailedError(Exception):
    """The function raised an unexpected error. The text is its type alone: its message may hold the text that was read."""
