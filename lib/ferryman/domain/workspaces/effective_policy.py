"""The effective policy: which tools may be called where task, agent, workspace, plan and catalog all allow them (C-5).

A task lists the built-in tools that it enables, and an empty list enables none (S0-3); its declared tools are enabled by being
there. The lists of agent, workspace and plan only take away, and an empty one takes nothing (S4-94). Names match with and
without the prefix (S4-95). The result does not depend on the order of the levels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ferryman.domain.tools.names import names_tool, strip_prefix


class PolicyLevel(StrEnum):
    """What may take a tool away, from the innermost to the outermost."""

    TASK = "task"
    AGENT = "agent"
    WORKSPACE = "workspace"
    PLAN = "plan"
    CATALOG = "catalog"
    """The tool is listed, and nothing executes it yet."""


SENTENCES = {
    PolicyLevel.TASK: "the task does not enable it",
    PolicyLevel.AGENT: "the agent's allowed_tools do not name it",
    PolicyLevel.WORKSPACE: "the workspace's allowed_tools do not name it",
    PolicyLevel.PLAN: "the owner's plan does not have it",
    PolicyLevel.CATALOG: "it is not implemented",
}
"""Why a level takes a tool away. No text of anybody's is in one: the model is shown them, too."""

ALLOWED = "every level allows it"

_Stripped = list[tuple[PolicyLevel, frozenset[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """The lists of tools of agent, workspace and plan. An empty one allows every tool."""

    agent: tuple[str, ...] = ()
    workspace: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()

    def find_taking_levels(self, tool: str) -> tuple[PolicyLevel, ...]:
        """Return the levels whose lists take `tool` away, the innermost first."""
        return _find_levels(self._strip(), tool)

    def select(self, tools: Iterable[str]) -> tuple[str, ...]:
        """Return those of `tools` that no list takes away; there may be thousands."""
        stripped = self._strip()
        return tuple(tool for tool in tools if not _find_levels(stripped, tool))

    def _strip(self) -> _Stripped:
        """Return the lists that take anything away, as sets of names without the prefix."""
        levels = ((PolicyLevel.AGENT, self.agent), (PolicyLevel.WORKSPACE, self.workspace), (PolicyLevel.PLAN, self.plan))
        return [(level, frozenset(map(strip_prefix, names))) for level, names in levels if names]


def _find_levels(stripped: _Stripped, tool: str) -> tuple[PolicyLevel, ...]:
    return tuple(level for level, names in stripped if strip_prefix(tool) not in names)


NO_LIMITS = ToolLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """What becomes of one tool: whether it may be called, which levels take it away, the innermost first, and why."""

    tool: str
    taken_by: tuple[PolicyLevel, ...] = ()

    @property
    def is_allowed(self) -> bool:
        """Whether no level takes it away."""
        return not self.taken_by

    @property
    def sentence(self) -> str:
        """Why it is taken away, level by level, or that it is not."""
        return "; ".join(SENTENCES[level] for level in self.taken_by) or ALLOWED


def compute_policy(
    limits: ToolLimits,
    *,
    listed: Collection[str],
    implemented: Collection[str],
    task: Collection[str] | None = None,
    declared: Collection[str] = (),
) -> Iterator[PolicyRow]:
    """Return the row of every tool that is `listed` in the catalog, then of every `declared` one of the task.

    `task` are the tools that a task enables; None judges what any task could use at most. `implemented` are those of the listed
    tools that can be called: a declared tool has the row of its name where the listed one cannot, as it is what a call reaches.
    """
    lists = limits._strip()
    reached = frozenset(declared).difference(implemented)
    for tool in (tool for tool in listed if tool not in reached):
        taken_by = [PolicyLevel.TASK] if task is not None and not names_tool(task, tool) else []
        taken_by += _find_levels(lists, tool)
        taken_by += [] if tool in implemented else [PolicyLevel.CATALOG]
        yield PolicyRow(tool=tool, taken_by=tuple(taken_by))
    for tool in declared:
        if tool in reached:
            yield PolicyRow(tool=tool, taken_by=_find_levels(lists, tool))
