"""Whether an agent may have a server of a name beside those that it has."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain.problem import build_input_error
from ferryman.domain.remote_servers.names import find_server_name_problem, fold_name


def check_server_name(name: str, others: Iterable[str]) -> None:
    """Raise `InvalidInputError` unless a server may have this `name` beside `others` of its agent: no two look alike."""
    problem = find_server_name_problem(name)
    if problem is not None:
        raise build_input_error("name", problem)
    folded = fold_name(name)
    for other in others:
        if other == name:
            raise build_input_error("name", f"is the name of another MCP server of this agent: {other}")
        if fold_name(other) == folded:
            raise build_input_error("name", f"looks like {other}, another MCP server of this agent")
