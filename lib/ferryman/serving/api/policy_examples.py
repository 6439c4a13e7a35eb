"""An example of what the policy of an agent says of its tools."""

from __future__ import annotations

from typing import Any

_FLOW = {"changes": True, "sends": False, "destroys": False, "reads_people": False, "fixed": []}


def build_policy_example(agent: str) -> dict[str, Any]:
    """Return the policy of `agent`, in the fields of its answer."""
    return {
        **{"agent_id": agent, "task_id": None, "next": None},
        "tools": [
            {
                **{"tool": "api_call", "allowed": True, "taken_by": [], "reason": "every level allows it", "asks": "depends"},
                "flow": {**_FLOW, "roles": {"method": "decides", "url": "decides", "body": "decides"}, "corrected": False},
            },
            {
                **{"tool": "webhook", "allowed": False, "taken_by": ["agent"]},
                **{"reason": "the agent's allowed_tools do not name it", "asks": "always"},
                "flow": {**_FLOW, "roles": {"url": "decides", "body": "free"}, "corrected": True},
            },
        ],
    }
