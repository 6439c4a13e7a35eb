"""A call's own arguments: those that would say for whom or where it is are dropped, and what is too long is clamped.

Whose a call is, and in which workspace, is its execution's context alone (S4-98): no model says it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ferryman.domain.tools.tool import ToolPolicy

RESERVED = re.compile(
    r"db|context|(user|owner|person|tenant|workspace|agent|task|conversation|execution)(_?id|_?name)?",
    re.ASCII | re.IGNORECASE,
)
"""The whole names of arguments that only an execution's context gives (S2-30). No built-in tool's schema has one of them."""


def read_own_arguments(policy: ToolPolicy, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that a tool of ours is executed with: without reserved ones, in silence (S2-30), and clamped."""
    return clamp_arguments(policy, {name: value for name, value in arguments.items() if not RESERVED.fullmatch(name)})


def clamp_arguments(policy: ToolPolicy, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, each text and list cut to its limit, in silence; what is deeper stays as it is (S2-33, S2-34).

    A declared tool's are its API's own, so that a `user_id` among them is no context: none is dropped. One that its schema does
    not have is refused where they are checked, since the request would be another one without it.
    """
    return {name: _clamp(policy, value) for name, value in arguments.items()}


def _clamp(policy: ToolPolicy, value: Any) -> Any:
    if isinstance(value, str):
        return value[: policy.argument_characters_max]
    return value[: policy.argument_items_max] if isinstance(value, list) else value
