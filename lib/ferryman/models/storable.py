"""Storable values: what a model may write as JSON, and no store can hold."""

from __future__ import annotations

import math
from typing import Any

from ferryman.domain.json_tree import replace_halves
from ferryman.models.events import UnreadableReplyError

DEPTH_MAX = 100


def make_storable(value: Any, depth: int = 0) -> Any:
    """Return `value` with lone surrogates replaced and numbers that JSON lacks as text.

    Raise `UnreadableReplyError` where it is nested more than `DEPTH_MAX` deep.
    """
    if isinstance(value, str):
        return replace_halves(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, dict | list):
        return value
    if depth == DEPTH_MAX:
        raise UnreadableReplyError(f"the model's reply is nested more than {DEPTH_MAX} deep")
    if isinstance(value, dict):
        return {make_storable(name): make_storable(item, depth + 1) for name, item in value.items()}
    return [make_storable(item, depth + 1) for item in value]
