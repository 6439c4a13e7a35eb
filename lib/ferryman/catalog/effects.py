"""What a call of a tool changes, in a sentence for the person who decides about it."""

from __future__ import annotations

from ferryman.catalog.tools import find_tool


def describe_effect(tool: str) -> str:
    """Return a sentence about what a call of the tool changes, by its policy."""
    policy = find_tool(tool).policy
    changed = f"changes {' and '.join(policy.changes)}" if policy.changes else "changes nothing"
    deciding = (
        f"these arguments decide where: {', '.join(policy.decided_by)}" if policy.decided_by else "its arguments decide where"
    )
    where = f"; {deciding}" if policy.changes else ""
    return f"A call of {tool} {changed}{where}."
