"""The catalog of agents: `agents.json`, the templates of agents, read once and checked against the catalog of tools.

What an agent may call follows from its list, and how many tools that are is counted, never written down.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ferryman.catalog import check_members, need
from ferryman.catalog.tools import ICONS, LISTED, load_file
from ferryman.domain.agents.rules import find_text_problems
from ferryman.domain.tools.agent import AgentRole, AgentTemplate

FILE = "catalog/agents.json"
_FIELDS = frozenset(field.name for field in fields(AgentTemplate))
_TEXTS = ("id", "name", "description", "icon", "system_prompt")


def read_agents(document: Sequence[Any], tools: Collection[str], icons: Collection[str]) -> dict[str, AgentTemplate]:
    """Return the agents by id, in their order.

    Raise `MisconfiguredError`, which names the entry and the field, for one that lacks a field or lists a tool that is not
    among `tools`, and where there is not exactly one coordinator.
    """
    agents: dict[str, AgentTemplate] = {}
    for index, entry in enumerate(document):
        where = f"{FILE} entry {index}"
        need(isinstance(entry, Mapping), f"{where}: must be an object")
        check_members(entry, where, _FIELDS, _FIELDS)
        for name in _TEXTS:
            need(isinstance(entry[name], str), f"{where}: {name} must be a string")
        where = f"{where} ({entry['id']!r})"
        need(entry["id"] not in agents, f"{where}: the id is given twice")
        need(entry["icon"] in icons, f"{where}: there is no icon {entry['icon']!r}")
        waits_for = entry["waits_for"]
        need(waits_for is None or isinstance(waits_for, str), f"{where}: waits_for must be a string or null")
        problems = find_text_problems(**{name: entry[name] for name in ("name", "description", "system_prompt")})
        need(not (problem := next(problems, None)), f"{where}: {problem and problem.field} {problem and problem.message}")
        need(entry["role"] in list(AgentRole), f"{where}: role must be one of {', '.join(AgentRole)}")
        allowed = _read_tools(entry["allowed_tools"], tools, f"{where}: allowed_tools")
        agents[entry["id"]] = AgentTemplate(**{**entry, "role": AgentRole(entry["role"]), "allowed_tools": allowed})
    coordinators = [agent.id for agent in agents.values() if agent.role is AgentRole.COORDINATOR]
    need(len(coordinators) == 1, f"{FILE}: exactly one agent must be the coordinator, not {coordinators}")
    return agents


def _read_tools(names: Any, tools: Collection[str], where: str) -> tuple[str, ...]:
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    need(is_list, f"{where} must be a list of names")
    unknown = [name for name in names if name not in tools]
    need(not unknown, f"{where}: the catalog has no tool {unknown}")
    need(len(set(names)) == len(names), f"{where}: a name is given twice")
    return tuple(names)


TEMPLATES = read_agents(load_file("agents.json"), LISTED, ICONS)
"""The templates by id, the coordinator's among them."""
