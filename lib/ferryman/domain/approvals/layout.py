"""JSON laid out for reading: only where the text follows from the value, so that no byte of it is left out."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product
from typing import Any

from ferryman.domain.approvals.visible import show_text

DEPTH_MAX = 20
"""JSON that is nested deeper is not laid out: the indents would be longer than the text."""

SEPARATORS = {"compact": (",", ":"), "spaced": (", ", ": ")}


@dataclass(frozen=True, slots=True)
class LaidOutJson:
    """The `lines` of a JSON text that was written in this `style`."""

    style: str
    lines: tuple[str, ...]


def lay_out_json(text: str, *, secrets: Collection[str] = ()) -> LaidOutJson | None:
    """Return an object or list of JSON laid out; None where the text is spelled in a way of its own, or nested too deep."""
    if text[:1] not in ("{", "[") or _find_depth(text) > DEPTH_MAX:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    for (name, separators), is_ascii in product(SEPARATORS.items(), (False, True)):
        if json.dumps(value, ensure_ascii=is_ascii, separators=separators) == text:
            style = f"{name}, only ASCII" if is_ascii else name
            return LaidOutJson(style, _indent(value, is_ascii=is_ascii, secrets=secrets))
    return None


def lay_out_value(value: Any) -> tuple[str, ...]:
    """Return a value of a canonical form laid out, or on one line where it is nested too deep."""
    text = json.dumps(value, ensure_ascii=False)
    return (show_text(text),) if _find_depth(text) > DEPTH_MAX else _indent(value, is_ascii=False, secrets=())


def _indent(value: Any, *, is_ascii: bool, secrets: Collection[str]) -> tuple[str, ...]:
    lines = []
    for line in json.dumps(value, ensure_ascii=is_ascii, indent=2).split("\n"):
        text = line.lstrip(" ")  # no text of JSON begins a line: what is in front of it is our own indent
        lines.append(line[: len(line) - len(text)] + show_text(text, secrets=secrets))
    return tuple(lines)


def _find_depth(text: str) -> int:
    """Return how deep a text of JSON is nested; brackets in its strings do not count."""
    depth = deepest = 0
    is_string = is_escaped = False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif character == '"':
            is_string = not is_string
        elif is_string:
            is_escaped = character == "\\"
        elif character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
    return deepest
