"""Digests of what decides over a call beside its request: the definitions of its tools, and the execution's frozen policy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from ferryman.catalog.tools import TOOLS, find_tool
from ferryman.domain.executions.policy import ExecutionPolicy

TOOL = b"ferryman/tool/1\n"
POLICY = b"ferryman/policy/1\n"


def digest_tools(names: Iterable[str], *, fingerprint: str) -> str:
    """Return the hash of the tools that a call is one of: what the model read of them, and all that is decided about them.

    `fingerprint` is of the declared tool among them, "" where none is.
    """
    entries = [
        {"name": name, "definition": TOOLS[name].to_definition() if name in TOOLS else None, "policy": find_tool(name).policy}
        for name in sorted(set(names))
    ]
    return _digest(TOOL, {"tools": entries, "fingerprint": fingerprint})


def digest_policy(policy: ExecutionPolicy) -> str:
    """Return the hash of an execution's policy: of every field, so that another plan, host or rule is another policy."""
    return _digest(POLICY, policy)


def _digest(domain: bytes, value: Any) -> str:
    text = json.dumps(_to_plain(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(domain + text.encode()).hexdigest()


def _to_plain(value: Any) -> Any:
    """Return a value of the domain as JSON. Equal values are written alike, whichever store they were read from."""
    if is_dataclass(value):
        return {field.name: _to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    return value
