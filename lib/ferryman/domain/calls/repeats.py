"""Repeats: a model that asks for the same call again and again is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError

RECENT_CALLS = 10  # how many of the latest calls are compared, the requested one included
SAME_CALLS_MAX = 2  # how often the same call may be among them; the third is refused


def digest_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a digest of tool and arguments; the order of the arguments does not matter."""
    return hashlib.sha256(json.dumps([tool, arguments], sort_keys=True, default=str).encode()).hexdigest()


def check_repeats(digest: str, recent: Sequence[str]) -> None:
    """Raise `CallRefusedError` where the latest calls have this digest twice already."""
    if list(recent)[-(RECENT_CALLS - 1) :].count(digest) >= SAME_CALLS_MAX:
        raise CallRefusedError(refusal.REPEATED_CALL)
