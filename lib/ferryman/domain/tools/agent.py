"""Agents of the catalog: their names, what each is for, and which tools each may call. Nothing runs them yet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AgentRole(StrEnum):
    """What an agent is among the others of its workspace."""

    COORDINATOR = "coordinator"
    """It reads the user's messages, and delegates them."""
    SPECIALIST = "specialist"
    """It is given messages of one field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentListing:
    """What is decided about an agent. `icon` is the name of a picture (catalog/icons.json).

    `allowed_tools` are the names of the tools that it may call, and an empty list allows every tool. One that is not
    `implemented` is listed only; `reason` says what it waits for.
    """

    id: str
    name: str
    role: AgentRole
    description: str
    icon: str
    implemented: bool
    reason: str
    allowed_tools: tuple[str, ...]

    def allows(self, tool: str) -> bool:
        """Tell whether the agent may call the tool of this name."""
        return not self.allowed_tools or tool in self.allowed_tools
