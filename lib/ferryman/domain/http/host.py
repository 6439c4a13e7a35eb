"""Host patterns: which hosts a pattern of an allowlist covers."""

from __future__ import annotations

from collections.abc import Iterable


def is_covered_by(pattern: str, host: str) -> bool:
    """Tell whether `pattern` covers `host`, case-insensitively: the same name, or for `*.x` a name of one more label than x."""
    pattern, host = pattern.lower(), host.lower()
    if not pattern.startswith("*."):
        return pattern == host
    label, _, parent = host.partition(".")
    return bool(label) and parent == pattern[2:]


def is_covered(patterns: Iterable[str], host: str) -> bool:
    """Tell whether any of `patterns` covers `host`."""
    return any(is_covered_by(pattern, host) for pattern in patterns)
