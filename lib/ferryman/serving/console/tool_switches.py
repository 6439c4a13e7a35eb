"""Switches of tools: the tools that a task or an agent lists, as boxes of a form, and the list that such a form means."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ferryman.domain.tools.names import names_tool


def select_on(kind: str, listed: Sequence[str], tools: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of those of the catalog's `tools` that are on by the list of a task or an agent.

    A task lists what it enables. An agent lists what it may call, and an empty list allows every tool.
    """
    allows_all = kind == "agent" and not listed
    names = [tool["name"] for tool in tools if tool["implemented"]]
    return frozenset(name for name in names if allows_all or names_tool(listed, name))


def list_others(listed: Sequence[str], tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names in a list that have no box: of declared tools, of MCP servers, and of tools that are not implemented."""
    boxes = [tool["name"] for tool in tools if tool["implemented"]]
    return [name for name in listed if not any(names_tool([name], box) for box in boxes)]


def write_list(
    kind: str, on: Collection[str], others: Sequence[str], listed: Sequence[str], tools: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the list that boxes which are `on` and `others` mean; what was `listed` before stays in its order.

    An agent that may call every tool has an empty list. Raise `ValueError` for an agent that could call none.
    """
    boxes = [tool["name"] for tool in tools if tool["implemented"]]
    if kind == "agent" and not others and all(box in on for box in boxes) and not listed:
        return []
    names = [name for name in listed if name in others or names_tool(on, name)]
    added = [box for box in boxes if box in on and not names_tool(names, box)]
    added += [name for name in others if name not in names]
    names += added
    if kind == "agent" and not names:
        raise ValueError(
            "an empty list allows every tool: leave at least one on, or turn tools off for the agent's conversations"
        )
    return names
