"""Ids that derive from others: of an owner's default workspace, and of a workspace's default agent."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Protocol

_DIGITS = 30
_CACHED_MAX = 10_000


class Placed(Protocol):
    """A frozen value that belongs to an owner, a workspace and an agent: a task or an execution."""

    @property
    def owner(self) -> str: ...
    @property
    def workspace(self) -> str: ...
    @property
    def agent(self) -> str: ...


@lru_cache(_CACHED_MAX)
def derive_default_workspace(owner: str) -> str:
    """Return the id of the default workspace of `owner`: no other owner's workspace has it."""
    return f"ws_{hashlib.sha256(f'default workspace of {owner}'.encode()).hexdigest()[:_DIGITS]}"


@lru_cache(_CACHED_MAX)
def derive_default_agent(workspace: str) -> str:
    """Return the id of the default agent of `workspace`: no other workspace's agent has it."""
    return f"agent_{hashlib.sha256(f'default agent of {workspace}'.encode()).hexdigest()[:_DIGITS]}"


def fill_place(value: Placed) -> None:
    """Give a new value that names no workspace its owner's default one, and one that names no agent the workspace's default."""
    if not value.workspace:
        object.__setattr__(value, "workspace", derive_default_workspace(value.owner))
    if not value.agent:
        object.__setattr__(value, "agent", derive_default_agent(value.workspace))
