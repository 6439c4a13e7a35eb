"""The tree of a call's flow, read back: which words of which source decided which argument, and whether they are trusted.

It is read only where writing it gives the same lines again, so that no value in one of them can pass for another line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TRUSTED, UNTRUSTED = "trusted: ", "untrusted: "
_ARGUMENT = re.compile(r"[├└]─ (?P<argument>.*)", re.DOTALL)
_SOURCE = re.compile(rf"[│ ]  └─ (?P<trust>{TRUSTED}|{UNTRUSTED})(?P<source>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ShownOrigin:
    """An argument with its value, and the words that it came from, each as the tree has them."""

    argument: str
    is_trusted: bool
    source: str


def read_origins(lines: Sequence[Any]) -> list[ShownOrigin] | None:
    """Return what the `lines` of a flow tell below their first; None where they are no such tree."""
    if not all(isinstance(line, str) for line in lines):
        return None
    origins = []
    for argument, source in zip(lines[1::2], lines[2::2], strict=False):
        value, origin = _ARGUMENT.fullmatch(argument), _SOURCE.fullmatch(source)
        if value is None or origin is None:
            return None
        origins.append(ShownOrigin(value["argument"], origin["trust"] == TRUSTED, origin["source"]))
    return origins if write_origins(origins) == list(lines[1:]) else None


def has_untrusted(form: str, value: str) -> bool:
    """Tell whether a canonical form names `value`, whole, as that of an argument which untrusted text decided."""
    flow = json.loads(form).get("flow")
    origins = read_origins(flow.get("lines", ())) if flow else None
    return any(not origin.is_trusted and origin.argument.endswith(f" = {value}") for origin in origins or ())


def write_origins(origins: Sequence[ShownOrigin]) -> list[str]:
    """Return the lines of a tree."""
    lines = []
    for index, origin in enumerate(origins):
        is_last = index == len(origins) - 1
        lines.append(f"{'└' if is_last else '├'}─ {origin.argument}")
        lines.append(f"{' ' if is_last else '│'}  └─ {TRUSTED if origin.is_trusted else UNTRUSTED}{origin.source}")
    return lines
