"""What is otherwise in a tool's descriptor than in the one that was accepted, field by field, as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.approvals.visible import show_name, show_text

TEXT_CHARACTERS_MAX = 8_000
FIELDS_MAX = 200
CUT = "⟨cut⟩"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field that differs: where it is, and what it was and is, each None where the field was or is not there.

    All of it can be shown on a terminal: what hides or reorders text is its code point.
    """

    field: str
    before: str | None
    after: str | None


def compare_descriptors(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldDifference, ...]:
    """Return what differs, by the path of the fields: the innermost ones of objects, lists as a whole."""
    old, new = _flatten(before), _flatten(after)
    paths = [*old, *(path for path in new if path not in old)]
    differing = [path for path in paths if old.get(path, _ABSENT) != new.get(path, _ABSENT)]
    return tuple(
        FieldDifference(field=show_name(path), before=_show(old.get(path, _ABSENT)), after=_show(new.get(path, _ABSENT)))
        for path in differing[:FIELDS_MAX]
    )


class _Absent:
    """What is not there; no value of JSON is."""


_ABSENT = _Absent()


def _flatten(value: Mapping[str, Any]) -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, inner = stack.pop()
        if isinstance(inner, Mapping) and inner:
            members = [(f"{path}.{name}" if path else str(name), member) for name, member in inner.items()]
            stack.extend(reversed(members))
        else:
            # whether a number is written 1 or 1.0 differs, too
            leaves[path] = inner if isinstance(inner, str) else json.dumps(inner, sort_keys=True)
    return leaves


def _show(value: str | _Absent) -> str | None:
    if isinstance(value, _Absent):
        return None
    text = show_text(value[: TEXT_CHARACTERS_MAX + 1])
    return text if len(value) <= TEXT_CHARACTERS_MAX else text[:TEXT_CHARACTERS_MAX] + CUT
