"""Agents of the catalog: templates that the agents of a workspace are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class AgentRole(StrEnum):
    """What an agent is among the others of its workspace."""

    COORDINATOR = "coordinator"
    """It reads the user's messages, and delegates them."""
    SPECIALIST = "specialist"
    """It is given messages of one field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTemplate:
    """What an agent that is made from it begins with. `icon` is the name of a picture (catalog/icons.json).

    `allowed_tools` are the names of the tools that it may call, and an empty list allows every tool. `waits_for` says what of
    it does not work yet; None where all does. Which of its tools are implemented is said of the tools, not of it.
    """

    id: str
    name: str
    role: AgentRole
    description: str
    icon: str
    system_prompt: str = field(repr=False)
    waits_for: str | None
    allowed_tools: tuple[str, ...]
