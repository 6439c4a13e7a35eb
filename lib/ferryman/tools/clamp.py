"""Clamps: long texts and lists among a call's arguments are cut as its tool's policy says (S2-31 … S2-34)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.tools.tool import ToolPolicy


def clamp_arguments(policy: ToolPolicy, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, each text and list cut to its limit, in silence; what is deeper stays as it is (S2-33, S2-34)."""
    return {name: _clamp(policy, value) for name, value in arguments.items()}


def _clamp(policy: ToolPolicy, value: Any) -> Any:
    if isinstance(value, str):
        return value[: policy.argument_characters_max]
    return value[: policy.argument_items_max] if isinstance(value, list) else value
