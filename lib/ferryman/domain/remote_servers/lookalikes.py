"""Look-alike names: which tools of a listing are refused because one could be taken for another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ferryman.domain.remote_servers.names import SEPARATOR, build_tool_name, fold_name, is_mcp_name
from ferryman.domain.tools.names import PREFIX

NAMESPACE = PREFIX.removesuffix(SEPARATOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What a server's tools could be taken for: the tools of the agent's other servers by their names, and the built-in ones.

    `accepted` are the tools of the server itself that a person has accepted.
    """

    server: str
    others: Mapping[str, Collection[str]] = field(default_factory=dict)
    built_in: Collection[str] = ()
    accepted: Collection[str] = ()


def find_name_refusals(names: Sequence[str], neighbours: Neighbours) -> dict[str, str]:
    """Return why tools of these names are refused, by name. Of two that look alike, only one that was accepted before stays."""
    counts = Counter(names)
    folded: dict[str, list[str]] = {}
    for name in counts:
        if is_mcp_name(name):
            folded.setdefault(fold_name(name), []).append(name)
    full = _group_by_full_name({*filter(is_mcp_name, counts), *neighbours.accepted}, neighbours.server)
    known = _fold_neighbours(neighbours)
    refusals = {}
    for name, count in counts.items():
        problem = _find_problem(name, count, neighbours, known)
        if problem is None:
            same = full[build_tool_name(neighbours.server, name)]
            alike = [other for other in (*folded[fold_name(name)], *same) if other != name]
            problem = _find_alike(name, alike, neighbours)
        if problem is not None:
            refusals[name] = problem
    return refusals


def _group_by_full_name(names: Iterable[str], server: str) -> dict[str, list[str]]:
    """Return names by what a model would know each by, which a name may share with one that is cut or mapped."""
    full: dict[str, list[str]] = {}
    for name in sorted(names):
        full.setdefault(build_tool_name(server, name), []).append(name)
    return full


def _fold_neighbours(neighbours: Neighbours) -> dict[str, str]:
    """Return what else there is, by its folded name."""
    known = {fold_name(name): f"the built-in tool {name}" for name in neighbours.built_in}
    for server, tools in neighbours.others.items():
        known |= {fold_name(f"{server}{SEPARATOR}{tool}"): f"{build_tool_name(server, tool)}" for tool in tools}
    return known


def _find_problem(name: str, count: int, neighbours: Neighbours, known: Mapping[str, str]) -> str | None:
    if not is_mcp_name(name):
        return "its name is none that MCP allows: 1 to 128 ASCII letters, digits, '_', '-' and '.'"
    if count > 1:
        return "the server lists the name twice"
    if (other := known.get(fold_name(name))) is not None:
        return f"its name looks like that of {other}"
    prefix, separator, _ = name.partition(SEPARATOR)
    if separator:
        for server in (*neighbours.others, NAMESPACE):
            if fold_name(prefix) == fold_name(server):
                return f"its name looks like that of a tool of {server}"
    return None


def _find_alike(name: str, alike: Sequence[str], neighbours: Neighbours) -> str | None:
    if not alike or (name in neighbours.accepted and not any(other in neighbours.accepted for other in alike)):
        return None
    accepted = [other for other in alike if other in neighbours.accepted]
    return f"its name looks like that of {(accepted or alike)[0]}, another tool of the server"
