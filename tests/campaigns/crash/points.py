"""Points: every call that crosses a port is met before and after, whatever port it is and whichever process calls it."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

Meet = Callable[[str, str], Awaitable[None]]
"""Called with a crossing's name ("executions.commit") and its side ("before" or "after")."""

House = TypeVar("House")

ORCHESTRATOR, TOOL, SCANNER = "orchestrator", "tool", "scanner"
"""Who can be met: a tool function is another one while it looks through what the model said."""

ALONE, BOTH, OTHER = "alone", "both", "other"
"""Who dies at a tool function's point: itself, the orchestrator too, or the orchestrator only."""

INSIDE = frozenset(("registry", "vault"))
"""Rooms of the same process: what they ask of the world is met where they ask it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One place where a run can be met: the `nth` time that `role` makes this crossing, on one side of it."""

    role: str
    crossing: str
    nth: int
    side: str

    def __str__(self) -> str:
        return f"{self.side} {self.role} {self.crossing}#{self.nth}"


class InstrumentedPort:
    """A port, or anything with coroutine methods, whose every call is met on both sides."""

    def __init__(self, inner: Any, name: str, meet: Meet) -> None:
        self._inner = inner
        self._name = name
        self._meet = meet

    def __getattr__(self, member: str) -> Any:
        found = getattr(self._inner, member)
        if member.startswith("_") or not inspect.iscoroutinefunction(found):
            return found

        async def crossing(*given: Any, **named: Any) -> Any:
            name = f"{self._name}.{member}"
            await self._meet(name, "before")
            try:
                answer = await found(*given, **named)
            except Exception:
                await self._meet(name, "after")
                raise
            await self._meet(name, "after")
            return answer

        return crossing


def instrument(deps: House, meet: Meet) -> House:
    """`deps` with everything in it that can be called across a wire met: no list of the ports is kept here."""
    values: dict[str, Any] = {field.name: getattr(deps, field.name) for field in dataclasses.fields(deps)}
    ports = {
        name: InstrumentedPort(value, name, meet)
        for name, value in values.items()
        if name not in INSIDE and _crosses(type(value))
    }
    return dataclasses.replace(deps, **ports)


@cache
def _crosses(kind: type) -> bool:
    return any(
        inspect.iscoroutinefunction(member)
        for item in kind.__mro__
        for name, member in vars(item).items()
        if not name.startswith("_")
    )


class Counting:
    """`Meet` that tells the points of one role as they are passed, each to `see`."""

    def __init__(self, role: str, see: Callable[[Point], Awaitable[None]]) -> None:
        self._role = role
        self._see = see
        self._passed: Counter[tuple[str, str]] = Counter()

    async def __call__(self, crossing: str, side: str) -> None:
        nth = self._passed[crossing, side]
        self._passed[crossing, side] += 1
        await self._see(Point(role=self._role, crossing=crossing, nth=nth, side=side))


def targets(passed: Iterable[Point]) -> list[tuple[Point, str]]:
    """Every point that was met, with each way of dying there that makes a difference.

    A scan changes nothing: that its orchestrator dies meanwhile is met where the orchestrator asks for it.
    """
    return [(point, way) for point in passed for way in ((ALONE, BOTH, OTHER) if point.role == TOOL else (ALONE,))]
