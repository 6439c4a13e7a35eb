"""Hosts: which name is covered by which pattern."""

from __future__ import annotations

from collections.abc import Iterable


def is_covered_by(pattern: str, host: str) -> bool:
    """Whether `pattern` admits `host`: case-insensitively and exactly; `*.x` admits exactly one more label, and not x."""
    pattern, host = pattern.lower(), host.lower()
    if not pattern.startswith("*."):
        return pattern == host
    label, _, parent = host.partition(".")
    return bool(label) and parent == pattern[2:]


def is_covered(patterns: Iterable[str], host: str) -> bool:
    """Whether any of `patterns` admits `host`."""
    return any(is_covered_by(pattern, host) for pattern in patterns)
