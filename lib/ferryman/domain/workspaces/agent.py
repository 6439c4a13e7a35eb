"""Agents: a named model with a prompt, and the tools that it may call, in a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from ferryman.domain.approvals.rules import ApprovalRule
from ferryman.domain.tools.names import strip_prefix
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.workspace import BEGINNING, DEFAULT_NAME

AGENTS_PER_WORKSPACE_MAX = 100
"""With the default one."""

GOES_WITH_AGENT = "the task's agent was deleted, and the task goes with it"


class AgentGoneError(Exception):
    """The agent that a task would have is not there. Nothing was stored."""


class AgentHasTasksError(Exception):
    """The agent was to be deleted unless it has tasks, and it has. Nothing was stored."""


class Titles(StrEnum):
    """Where the title of a conversation comes from that no person has named."""

    FIRST_LINE = "first_line"
    """From the beginning of its first message."""
    MODEL = "model"
    """From an execution of its own, after its first complete answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent as stored.

    `system_prompt` comes before that of a task, `model` is that of a task which names none, `allowed_tools` the names of the
    tools that it may call, with or without their prefix; an empty list allows every tool (S4-94). `tool_settings` are its own
    settings of tools by name. `max_credits_month` is its limit of credits in a month (UTC), `conversation_credits_max` that of
    each conversation with it; None: no limit. In conversations it has tools only where `tools_enabled`, and of them only the
    `enabled_tools` (S3-41, S3-43): None for all that its task has. `titles` says where its conversations have their titles
    from. `template` is the id of the catalog's agent that it was made from. `approvals` are its rules of which calls wait for
    a person.
    """

    id: str
    owner: str
    workspace: str
    name: str
    description: str = ""
    system_prompt: str = field(default="", repr=False)
    model: str | None = None
    allowed_tools: tuple[str, ...] = ()
    tool_settings: Mapping[str, ToolSettings] = field(default_factory=dict)
    max_credits_month: Decimal | None = None
    conversation_credits_max: Decimal | None = None
    tools_enabled: bool = True
    enabled_tools: tuple[str, ...] | None = None
    approvals: tuple[ApprovalRule, ...] = ()
    titles: Titles = Titles.FIRST_LINE
    template: str | None = None
    archived: bool = False
    created_at: datetime
    updated_at: datetime

    def select_enabled(self, tools: Iterable[str]) -> tuple[str, ...]:
        """Return those of `tools` that its settings of conversations allow; there may be thousands."""
        if not self.tools_enabled:
            return ()
        enabled = None if self.enabled_tools is None else frozenset(map(strip_prefix, self.enabled_tools))
        return tuple(tool for tool in tools if enabled is None or strip_prefix(tool) in enabled)

    @property
    def is_default(self) -> bool:
        """Whether it is its workspace's default agent, which cannot be archived or deleted."""
        return self.id == derive_default_agent(self.workspace)


def build_default_agent(owner: str, workspace: str) -> Agent:
    """Return the default agent of `workspace` as it is before anybody changed it: it allows every tool, and says nothing."""
    name = derive_default_agent(workspace)
    return Agent(id=name, owner=owner, workspace=workspace, name=DEFAULT_NAME, created_at=BEGINNING, updated_at=BEGINNING)
