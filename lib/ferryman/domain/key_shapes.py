"""Key shapes: what has the form of a key of some service leaves in no file, and in no error's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ferryman.domain.json_tree import walk

SHAPES = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "a Ferryman API key": r"\bfm_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    "an AWS access key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a Google key": r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}",
    "a Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Slack webhook": r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}",
    "a Discord webhook": r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{32,}",
    "a key of the form sk-…": r"\b(?:sk|rk)[-_](?:ant-|proj-|live_|test_)?[A-Za-z0-9_-]{20,}",
    # what has to follow is looked for once for each run: a run may have many places where a token could begin
    "a signed token": r"(?<![\w-])(?=[\w-]*+\.eyJ[\w-]{10,}+\.[\w-]{16})(?:[\w-]*-)?eyJ[\w-]{10}",
}
"""Keys that their form gives away. The task's own were redacted before anything was recorded; these are of other origin."""

_SHAPES = {name: re.compile(pattern, re.ASCII) for name, pattern in SHAPES.items()}
_REST = {"a private key": r"[\s\S]*"}
_WHOLE = {
    name: re.compile("(?:" + pattern + ")" + _REST.get(name, r"[\w./+=~-]*"), re.ASCII) for name, pattern in SHAPES.items()
}
"""The same with all that belongs to the key, where a shape ends before it does."""


def find_secrets(document: Any) -> list[tuple[str, str]]:
    """Return the places in `document` (JSON) whose text looks like a key, each with what it looks like."""
    return [
        (place, name) for place, text in _texts(document) for name, shape in _SHAPES.items() if shape.search(text) is not None
    ]


def redact_shapes(text: str) -> str:
    """Return `text` with everything that looks like a key replaced by what it looks like."""
    for name, shape in _WHOLE.items():
        text = shape.sub(f"[{name}]", text)
    return text


def _texts(document: Any) -> Iterator[tuple[str, str]]:
    for path, value in walk(document):
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" if part.isidentifier() else ".?" for part in path)
        place = f"record{''.join(parts)}"
        if isinstance(value, str):
            yield place, value
        elif isinstance(value, dict):
            yield from ((f"{place} (a name in it)", name) for name in value)
