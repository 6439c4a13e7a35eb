"""Repeats: when a model asks for the same thing over and over."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError

RECENT_CALLS = 10
"""How many of the latest calls are looked at, the one that is asked for among them."""

SAME_CALLS_MAX = 2
"""How often the same call may stand among them; the third is refused."""


def digest_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """What calls of the same tool with the same arguments have in common, in whatever order they name them."""
    return hashlib.sha256(json.dumps([tool, arguments], sort_keys=True, default=str).encode()).hexdigest()


def check_repeats(asked: str, recent: Sequence[str]) -> None:
    """Raise `CallRefusedError` when the call was made twice among the latest already."""
    if list(recent)[-(RECENT_CALLS - 1) :].count(asked) >= SAME_CALLS_MAX:
        raise CallRefusedError(refusal.refuse_repeated_call())
