"""Points where a process may die: before and after every call of a port, whatever port it is and whichever process calls it."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

Meet = Callable[[str, str], Awaitable[None]]
"""Called with the name of an operation ("executions.commit") and its side ("before" or "after")."""

Deps = TypeVar("Deps")

ORCHESTRATOR, TOOL, SCANNER, FILES, DEVICE = "orchestrator", "tool", "scanner", "files", "device"
"""The roles of processes: a tool function has another one while it scans the model's output, and a device is that of
a person who decides."""

ALONE, BOTH, OTHER = "alone", "both", "other"
"""Who dies at a point of a function that is called: itself, the orchestrator too, or the orchestrator only."""

WINDOW = "window"
"""What the same function is asked while the model is still writing."""

INSIDE = frozenset(("registry", "vault"))
"""Parts of the same process: the ports that they call are instrumented themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One place where a process may die: the `nth` time that `role` calls this operation, on one side of the call."""

    role: str
    operation: str
    nth: int
    side: str

    def __str__(self) -> str:
        return f"{self.side} {self.role} {self.operation}#{self.nth}"


class InstrumentedPort:
    """A port, or anything with coroutine methods, that calls `meet` before and after every call."""

    def __init__(self, inner: Any, name: str, meet: Meet) -> None:
        self._inner = inner
        self._name = name
        self._meet = meet

    def __getattr__(self, member: str) -> Any:
        value = getattr(self._inner, member)
        if member.startswith("_") or not _is_coroutine(value):
            return value
        name = f"{self._name}.{member}"

        async def call(*arguments: Any, **named: Any) -> Any:
            await self._meet(name, "before")
            try:
                answer = await value(*arguments, **named)
            except Exception:
                await self._meet(name, "after")
                raise
            await self._meet(name, "after")
            return answer

        self.__dict__[member] = call  # found without asking here from now on
        return call


def instrument(deps: Deps, meet: Meet) -> Deps:
    """Return `deps` with every port of it instrumented: no list of the ports is kept here."""
    values: dict[str, Any] = {field.name: getattr(deps, field.name) for field in dataclasses.fields(deps) if field.init}
    ports = {
        name: InstrumentedPort(value, name, meet)
        for name, value in values.items()
        if name not in INSIDE and _has_coroutines(type(value))
    }
    return dataclasses.replace(deps, **ports)


def _is_coroutine(value: Any) -> bool:
    """Say whether a member is a coroutine method. Of a method its function is asked, once: it is the same in every run."""
    return _is_coroutine_function(value.__func__) if inspect.ismethod(value) else inspect.iscoroutinefunction(value)


@cache
def _is_coroutine_function(function: Any) -> bool:
    return inspect.iscoroutinefunction(function)


@cache
def _has_coroutines(kind: type) -> bool:
    return any(
        inspect.iscoroutinefunction(member)
        for item in kind.__mro__
        for name, member in vars(item).items()
        if not name.startswith("_")
    )


@cache
def _get_point(role: str, operation: str, nth: int, side: str) -> Point:
    """Return a point; thousands of runs pass the same ones."""
    return Point(role=role, operation=operation, nth=nth, side=side)


class Counting:
    """`Meet` that calls `see` with each point of one role as it is passed."""

    def __init__(self, role: str, see: Callable[[Point], Awaitable[None]]) -> None:
        self._role = role
        self._see = see
        self._passed: Counter[tuple[str, str]] = Counter()

    async def __call__(self, operation: str, side: str) -> None:
        nth = self._passed[operation, side]
        self._passed[operation, side] += 1
        await self._see(_get_point(self._role, operation, nth, side))


def targets(passed: Iterable[Point]) -> list[tuple[Point, str]]:
    """Return every point that was passed, with each way of dying there that makes a difference.

    A scan changes nothing: the death of its orchestrator meanwhile is a point of the orchestrator's own call.
    """
    return [(point, way) for point in passed for way in ((ALONE, BOTH, OTHER) if point.role in (TOOL, FILES) else (ALONE,))]
