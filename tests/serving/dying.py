"""An instance that dies: at a chosen call of a port, before or after it is served, and from then on it does nothing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ferryman.composition.api import ApiDependencies

PORTS = (
    "owners",
    "workspaces",
    "jobs",
    "job_queue",
    "keys",
    "members",
    "invitations",
    "console_sessions",
    "audit",
    "tasks",
    "credentials",
    "clusters",
    "connections",
    "connector",
    "documents",
    "executions",
    "keyed",
    "halts",
    "queue",
    "schedules",
    "timers",
)


class DeathError(BaseException):
    """The process is gone: nothing catches this, and no cleanup reaches anything."""


@dataclass
class Life:
    """Counts the calls of ports, and ends at one of them: `at` 0 never."""

    at: int = 0
    after: bool = False
    calls: int = 0
    dead: bool = False

    async def live(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if not self.dead:
            self.calls += 1
        if self.dead or (self.calls == self.at and not self.after):
            self.dead = True
            raise DeathError
        answer = await call(*args, **named)
        if self.calls == self.at:
            self.dead = True
            raise DeathError
        return answer


@dataclass(frozen=True)
class Mortal:
    """A port of an instance that may die."""

    port: Any
    life: Life

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.port, name)
        return lambda *args, **named: self.life.live(call, *args, **named)


def mortal(deps: ApiDependencies, life: Life) -> ApiDependencies:
    """Return the dependencies, whose ports fail once `life` has ended."""
    return replace(deps, **{name: Mortal(getattr(deps, name), life) for name in PORTS})
